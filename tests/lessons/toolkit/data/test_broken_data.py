"""Tests that damaged files and archives are reported with a remedy, and never used."""

import bz2
import gzip
import io
import lzma
import tarfile

import pytest
from generated_data import World, batch, idx_bytes, pack, tar_bytes
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_data_load import TARS, assert_right, put

from lessons.toolkit import data
from lessons.toolkit.data import catalogue, contents
from tests.breadth import breadth

IMAGES = "train-images-idx3-ubyte"


PACKED = f"{IMAGES}.gz"

# How the sentence goes on after the file's name → the file's name and its bytes.
BROKEN = {
    "is empty": lambda world, good: (IMAGES, b""),
    "is empty.": lambda world, good: (PACKED, b""),
    "is a web page": lambda world, good: (IMAGES, b"<!DOCTYPE html><title>Sign in</title>"),
    "is a web page,": lambda world, good: (PACKED, b"<!DOCTYPE html><title>Sign in</title>"),
    "ends after 500 of": lambda world, good: (IMAGES, good[:500]),
    "cannot be unpacked (Comp": lambda world, good: (PACKED, pack(good)[:-20]),
    "cannot be unpacked (Not": lambda world, good: (PACKED, bz2.compress(good)),
    "is really MNIST's t10k-images": lambda world, good: (
        IMAGES,
        world.mnist["t10k-images-idx3-ubyte"],
    ),
    "is really MNIST's train-labels": lambda world, good: (
        IMAGES,
        world.mnist["train-labels-idx1-ubyte"],
    ),
    "is really CIFAR10's": lambda world, good: (
        IMAGES,
        world.cifar["cifar-10-batches-py/test_batch"],
    ),
    "has the right format, but its contents differ": lambda world, good: (
        IMAGES,
        idx_bytes(255 - world.arrays["mnist"]["x_train"]),
    ),
    "is not an IDX file": lambda world, good: (IMAGES, b"\x01" + good[1:]),
    "is longer than": lambda world, good: (IMAGES, good + b"!"),
    "is longer than the": lambda world, good: (PACKED, pack(bytes(1 << 27))),  # a bomb, 1 : 1000
}


@pytest.mark.parametrize("case", BROKEN)
@pytest.mark.parametrize("where", ["COURSE_DATA", "cache"])
def test_a_broken_file_is_named_with_the_way_out(world, tmp_path, monkeypatch, case, where):
    name, content = BROKEN[case](world, world.mnist[IMAGES])
    folder = tmp_path / where
    put(folder, {f"mnist/{file}": good for file, good in world.mnist.items() if file != IMAGES})
    put(folder, {f"mnist/{name}": content})
    monkeypatch.setenv(where if where == "COURSE_DATA" else "COURSE_DATA_CACHE", str(folder))
    with pytest.raises(data.DataError) as error:
        data.load("mnist")
    sentence = str(error.value)
    assert sentence.startswith(f"{folder}/mnist/{name} {case}")
    assert "`lessons data fetch mnist`" in sentence
    assert ("unset COURSE_DATA" in sentence) == (where == "COURSE_DATA")
    assert len(sentence) < 600


def xz_that_asks_for_4_gb(tar: bytes) -> bytes:
    return lzma.compress(
        tar, filters=[{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": (1 << 30) + (1 << 29)}]
    )


def cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


def sparse(world: World) -> bytes:
    """Return a GNU sparse member that claims to be as large as a thousand disks."""
    member = tarfile.TarInfo("cifar-10-batches-py/data_batch_1")
    member.pax_headers = {
        "GNU.sparse.major": "1",
        "GNU.sparse.minor": "0",
        "GNU.sparse.name": member.name,
        "GNU.sparse.realsize": str(1 << 50),
    }
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        member.size = 1024
        archive.addfile(member, io.BytesIO(b"1\n0\n1\n".ljust(1024, b"\0")))
    return buffer.getvalue()


def swapped(world: World) -> bytes:
    names = list(world.cifar)
    return tar_bytes(world.cifar | {names[0]: world.cifar[names[1]]})


def changed(world: World) -> bytes:
    arrays = world.arrays["cifar10"] | {"x_train": 255 - world.arrays["cifar10"]["x_train"]}
    name = "cifar-10-batches-py/data_batch_1"
    return tar_bytes(world.cifar | {name: batch(arrays, "train", slice(24))})


ARCHIVES = {
    "is empty": lambda world: b"",
    "is a web page": lambda world: b"<html>",
    "is not a whole archive": lambda world: cut(pack(tar_bytes(world.cifar))),
    "is not a whole archive (it ends": lambda world: cut(
        lzma.compress(tar_bytes(world.cifar), preset=0)
    ),
    "is not a whole archive (u": lambda world: cut(tar_bytes(world.cifar)),
    "is not a whole archive (M": lambda world: xz_that_asks_for_4_gb(tar_bytes(world.cifar)),
    "unpacks to far more": lambda world: pack(tar_bytes({"zeros": bytes(1 << 26)} | world.cifar)),
    "does not hold cifar-10-batches-py/data_batch_1": lambda world: tar_bytes(
        dict(list(world.cifar.items())[1:])
    ),
    "holds a cifar-10-batches-py/data_batch_1 of 1,125,": sparse,
    "holds a cifar-10-batches-py/data_batch_1 that is really": swapped,
    "holds a cifar-10-batches-py/data_batch_1 that has the right form": changed,
}


@pytest.mark.parametrize("case", ARCHIVES)
def test_a_broken_archive_is_named_and_nothing_wrong_comes_out(world, tmp_path, monkeypatch, case):
    archive = tmp_path / "here" / "cifar10" / "cifar-10-python.tar.gz"
    put(archive.parent, {archive.name: ARCHIVES[case](world)})
    monkeypatch.setenv("COURSE_DATA", str(tmp_path / "here"))
    with pytest.raises(data.DataError) as error:
        data.load("cifar10")
    assert str(error.value).startswith(f"{archive} {case}")
    assert "`lessons data fetch cifar10`" in str(error.value)
    for path in (tmp_path / "cache").rglob("*batch*"):  # what came before the fault may be kept
        assert path.is_dir() or path.read_bytes() == world.cifar[f"{path.parent.name}/{path.name}"]


PIECES = st.lists(
    st.tuples(st.integers(0, 1 << 22), st.binary(min_size=1, max_size=600), st.booleans()),
    min_size=1,
    max_size=3,
)


@pytest.fixture(scope="module")
def packed(generated) -> dict[str, bytes]:
    """Return an archive of each kind, and a single file as .gz."""
    archives = {suffix: packer(tar_bytes(generated.cifar)) for suffix, packer in TARS.items()}
    return archives | {".gz": pack(generated.mnist["train-labels-idx1-ubyte"])}


@pytest.mark.parametrize("suffix", breadth([*TARS, ".gz"], quick=1))
@given(pieces=PIECES)
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50, deadline=None
)
def test_any_damage_gives_the_right_bytes_or_a_sentence(world, packed, tmp_path, suffix, pieces):
    entry = catalogue.entry("mnist" if suffix == ".gz" else "cifar10")
    files = world.mnist if suffix == ".gz" else world.cifar
    file = entry.files[1]
    whole = packed[suffix]
    for where, piece, cut_off in pieces:
        at = where % (len(whole) + 1)
        whole = whole[:at] + piece + (b"" if cut_off else whole[at + len(piece) :])
    path = tmp_path / f"damaged{suffix}"
    path.write_bytes(whole)
    sentence = f"{path} is right"
    try:
        for good, content in contents.read(entry, {file: path}):
            assert content == files[good.name]
    except data.DataError as error:
        sentence = str(error)
    assert sentence.startswith(f"{path} ")


def test_an_archive_writes_nothing_but_the_data_set(world, tmp_path, monkeypatch):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name in ("../../evil", str(tmp_path / "evil"), "cifar-10-batches-py/../../evil"):
            member = tarfile.TarInfo(name)
            member.size = 4
            archive.addfile(member, io.BytesIO(b"evil"))
        link = tarfile.TarInfo("cifar-10-batches-py")
        link.type, link.linkname = tarfile.SYMTYPE, str(tmp_path)
        archive.addfile(link)
    hostile = buffer.getvalue()[: 4 * 1024 - 512] + tar_bytes(world.cifar)
    here = put(tmp_path / "here", {"cifar10/cifar-10-python.tar.gz": gzip.compress(hostile)})
    monkeypatch.setenv("COURSE_DATA", str(here))
    before = set(tmp_path.rglob("*"))
    assert_right(data.load("cifar10"), world.arrays["cifar10"], 255)
    new = {path.name for path in set(tmp_path.rglob("*")) - before if path.is_file()}
    batches = {name.split("/")[1] for name in world.cifar}
    assert new == batches | {".cifar10.lock"}
    assert not any(path.is_symlink() for path in tmp_path.rglob("*"))


def test_a_broken_catalogue_is_named(world, tmp_path, monkeypatch):
    (tmp_path / "own.toml").write_text("[mnist]\ntitle = 3\n")
    monkeypatch.setenv("COURSE_CATALOGUE", str(tmp_path / "own.toml"))
    with pytest.raises(data.DataError, match=r"own\.toml cannot be read.*COURSE_CATALOGUE"):
        data.load("mnist")
