"""Turning bytes into clean lines."""

import io
from itertools import accumulate

import pytest
from hypothesis import given, strategies as st

from autograder.reading.lines import blocks, clean, split_label

CLEANED = {
    "plain": (b"loss: 0.5", "loss: 0.5"),
    "Windows": (b"loss: 0.5\r", "loss: 0.5"),
    "a bar's last state": (b"\r 10%|#\r 50%|##\r100%|###|", "100%|###|"),
    "a bar wiped away": (b" 10%|#   \r         \r{'loss': 0.5}", "{'loss': 0.5}"),
    "a message into a bar": (b"\r 10%|#| 1/9slurmstepd: error", " 10%|#| 1/9slurmstepd: error"),
    "backspaces": (b"1/9 - 5s\b\b\b\b\b\b\b\b9/9 - 1s", "9/9 - 1s"),
    "backspaces over a part": (b"loss 0.50\b\b25", "loss 0.25"),
    "Keras": (b"1/9 - ETA: 9s\b\b\b\b\b\b\b\b\b\b\b\b\b\r9/9 - 1s 2ms/step\b\b", "9/9 - 1s 2ms/st"),
    "colours": (b"\x1b[1m9/9\x1b[0m \x1b[32mdone\x1b[0m\x1b[K", "9/9 done"),
    "a title": (b"\x1b]0;job\x07done", "done"),
    "no UTF-8": (b"f\xe4hig \xff", "f�hig �"),
}


@pytest.mark.parametrize(("raw", "shown"), CLEANED.values(), ids=CLEANED)
def test_a_line_is_what_a_terminal_shows_at_the_end(raw, shown):
    assert clean(raw) == shown


LABELS = {
    "srun -l": ("3: loss: 0.5", 3, "loss: 0.5"),
    "srun -l of many": ("  3: loss: 0.5", 3, "loss: 0.5"),
    "Open MPI and a blank": ("[1,3]<stdout>: loss: 0.5", 3, "loss: 0.5"),
    "Open MPI": ("[1,3]<stdout>:loss: 0.5", 3, "loss: 0.5"),
    "horovodrun": ("[3]<stdout>:loss: 0.5", 3, "loss: 0.5"),
    "torchrun": ("[default3]:loss: 0.5", 3, "loss: 0.5"),
    "torch": ("[rank3]: Traceback", 3, "Traceback"),
    "srun and torch": ("3: [rank3]: Traceback", 3, "Traceback"),
    "none": ("loss: 0.5", None, "loss: 0.5"),
    "a time": ("10:30:11 loss: 0.5", None, "10:30:11 loss: 0.5"),
}


@pytest.mark.parametrize(("line", "rank", "rest"), LABELS.values(), ids=LABELS)
def test_a_launchers_label_is_taken_off(line, rank, rest):
    assert split_label(line) == (rank, rest)


def test_nuls_are_left_out():
    """They occur in files with holes and in text with two bytes per character."""
    (block,) = blocks(io.BytesIO("loss: 0.5\n".encode("utf-16-le")))
    assert block.data == b"loss: 0.5\n"


BYTES = st.lists(st.sampled_from([b"a", b"\n", b"\0", b"line" * 9]), max_size=40).map(b"".join)


@given(BYTES, st.integers(1, 50), st.integers(1, 50))
def test_blocks_lose_nothing_but_nuls_and_what_they_count(data, size, longest):
    found = list(blocks(io.BytesIO(data), size, longest))
    kept = data.replace(b"\0", b"")
    assert sum(len(block.data) + block.cut for block in found) == len(kept)
    assert b"".join(block.data for block in found).count(b"\n") == kept.count(b"\n")
    assert all(block.data.endswith(b"\n") for block in found[:-1])
    lengths = [0, *accumulate(len(block.data) for block in found)]
    assert [block.start for block in found] == lengths[:-1]
