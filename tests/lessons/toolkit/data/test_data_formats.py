"""Tests of the readers of IDX and CIFAR's pickles, on right, wrong and hostile bytes."""

import pickle
import re
import struct

import numpy as np
import pytest
from generated_data import cifar_bytes, idx_bytes
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from lessons.toolkit.data import cifar, idx

PIXELS = np.random.default_rng(1).integers(256, size=(3, 3072), dtype=np.uint8)
BATCH = cifar_bytes(PIXELS, [3, 1, 4])
IMAGES = idx_bytes(PIXELS.reshape(3, 48, 64))

# A change of one byte, a cut, or a piece put in.
CHANGES = st.tuples(
    st.integers(0, 1 << 16), st.integers(0, 255), st.sampled_from(["xor", "cut", "put"])
)


def altered(data: bytes, changes: list[tuple[int, int, str]]) -> bytes:
    for where, what, how in changes:
        at = where % max(len(data), 1)
        if how == "cut":
            data = data[:at]
        elif how == "put":
            data = data[:at] + bytes([what]) * 3 + data[at:]
        else:
            data = data[:at] + bytes([data[at] ^ what]) + data[at + 1 :] if data else data
    return data


@settings(deadline=None)
@given(hnp.arrays(np.uint8, hnp.array_shapes(max_dims=4, max_side=6)))
def test_idx_gives_back_what_was_written(array):
    np.testing.assert_array_equal(idx.parse(idx_bytes(array)), array)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "ends after 0 bytes"),
        (b"\0\0\x08", "ends after 3 bytes"),
        (b"\0\0\x08\x03\0\0\0\x02", "ends after 8 bytes"),
        (b"<htm", "is not an IDX file"),
        (b"\0\0\x08\0", "is not an IDX file"),
        (b"\0\0\x0d\x01\0\0\0\0", "kind 0x0d, not unsigned bytes"),
        (struct.pack(">HBB4I", 0, 8, 4, *[2**32 - 1] * 4), "4294967295 x 4294967295"),
        (idx_bytes(PIXELS)[:-1], "has 9,227 bytes where its header (3 x 3072) asks for 9,228"),
        (idx_bytes(PIXELS) + b"!", "has 9,229 bytes"),
    ],
)
def test_idx_says_what_is_wrong(data, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        idx.parse(data)


@settings(deadline=None)
@given(st.binary() | st.lists(CHANGES, max_size=3).map(lambda changes: altered(IMAGES, changes)))
def test_idx_of_any_bytes_is_an_array_of_them_or_a_value_error(data):
    try:
        array = idx.parse(data)
    except ValueError:
        return
    assert data.endswith(array.tobytes())
    assert idx_bytes(array) == data


def test_cifar_reads_what_python_2_wrote():
    pixels, labels = cifar.parse(BATCH)
    np.testing.assert_array_equal(pixels, PIXELS)
    assert labels.tolist() == [3, 1, 4]
    assert labels.dtype == np.int64


def test_cifar_rows_become_images_with_their_colours_last():
    row = np.arange(3072) // 1024 * 100  # all red 0, all green 100, all blue 200
    row[5] = 7  # sixth pixel of the first line, red
    image = cifar.images(row[None].astype(np.uint8))[0]
    assert image[31, 31].tolist() == [0, 100, 200]
    assert image[0, 5].tolist() == [7, 100, 200]


class Attack:
    def __init__(self, command: str) -> None:
        self.command = command

    def __reduce__(self):
        import os

        return os.system, (self.command,)


def test_cifar_runs_nothing(tmp_path):
    hostile = pickle.dumps(Attack(f"touch {tmp_path}/was_here"), protocol=2)
    with pytest.raises(ValueError, match=r"asks to run '(posix|os)\.system'.*was not run"):
        cifar.parse(hostile)
    assert not list(tmp_path.iterdir())
    pickle.loads(hostile)  # the attack is a real one
    assert (tmp_path / "was_here").exists()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b".",
        b"\x80\x02}.",
        b"\x80\x02]q\x01h\x01a.",  # a list that holds itself
        b"\x80\x02}r\xff\xff\xff\xff.",  # a memo of four thousand million places
        b"\x80\x02T\xff\xff\xff\x7fabc.",  # a string of two thousand million bytes
        b"\x80\x04\x95" + b"\xff" * 8 + b"}.",  # a frame of any size
        b"(" * 10000 + b"t" * 9999 + b".",
        b"(lp0\nI1\naI2\na.",  # the text form of pickles, which CIFAR does not use
        pickle.dumps({"data": PIXELS, "labels": [1, 2, 3]}),
        BATCH.replace(b"u1", b"u2"),
        BATCH.replace(b"U\x06labels", b"U\x06lebels"),
        BATCH.replace(b"K\x03K\x01K\x04", b"K\x03K\x01K\x0a"),
        BATCH.replace(b"K\x03K\x01K\x04", b"K\x03K\x01"),
        BATCH.replace(b"M\x03\x00M\x00\x0c\x86", b"M\x03\x00M\x01\x0c\x86"),
        BATCH[:-1],
        BATCH[: len(BATCH) // 2],
    ],
    ids=lambda data: data[:12].hex(),
)
def test_cifar_refuses(data):
    assert data != BATCH  # otherwise a replacement above found nothing to replace
    with pytest.raises(ValueError, match=r"pickle|CIFAR batch|labels"):
        cifar.parse(data)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner, inner),
)
PICKLES = st.builds(pickle.dumps, ANYTHING, st.integers(0, 5))


@settings(deadline=None)
@given(st.binary() | PICKLES | st.lists(CHANGES, max_size=3).map(lambda c: altered(BATCH, c)))
@example(BATCH)
def test_cifar_of_any_bytes_is_a_batch_or_a_value_error(data):
    try:
        pixels, labels = cifar.parse(data)
    except ValueError:
        return
    assert pixels.shape == (len(labels), 3072)
    assert pixels.dtype == np.uint8
    assert pixels.tobytes() in data
    assert ((labels >= 0) & (labels <= 9)).all()
