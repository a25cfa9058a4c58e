"""Tests that damaged files and archives are reported with a remedy, and never used."""

import io
import lzma
import pickle
import tarfile

import pytest
from generated_data import pack, tar_bytes
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_data_load import TARS, put

from lessons.toolkit import data
from lessons.toolkit.data import catalogue, files
from tests.breadth import breadth

IMAGES = "train-images-idx3-ubyte"
BATCH = "cifar-10-batches-py/data_batch_1"
# How the sentence goes on after the file's name -> the file's name and its bytes.
BROKEN = {
    "differs from MNIST's": lambda world, good: (IMAGES, good[:500]),
    "differs from MNIST's train-images": lambda world, good: (IMAGES, b"\x01" + good[1:]),
    "differs from": lambda world, good: (f"{IMAGES}.gz", pack(bytes(1 << 27))),  # a bomb, 1 : 1000
    "cannot be unpacked (Comp": lambda world, good: (f"{IMAGES}.gz", pack(good)[:-20]),
    "cannot be unpacked (Not": lambda world, good: (f"{IMAGES}.gz", b"<html>Sign in</html>"),
}


@pytest.mark.parametrize("case", BROKEN)
@pytest.mark.parametrize("where", ["COURSE_DATA", "COURSE_DATA_CACHE"])
def test_a_broken_file_is_named_with_the_way_out(world, tmp_path, monkeypatch, case, where):
    name, content = BROKEN[case](world, world.mnist[IMAGES])
    folder = tmp_path / where
    put(folder, {f"mnist/{file}": good for file, good in world.mnist.items() if file != IMAGES})
    put(folder, {f"mnist/{name}": content})
    monkeypatch.setenv(where, str(folder))
    with pytest.raises(data.DataError) as error:
        data.load("mnist")
    assert str(error.value).startswith(f"{folder}/mnist/{name} {case}")
    assert "`lessons data fetch mnist`" in str(error.value)
    assert ("unset COURSE_DATA" in str(error.value)) == (where == "COURSE_DATA")


class Attack:
    def __reduce__(self):
        return open, ("was_here", "w")


ARCHIVES = {
    "cannot be unpacked": lambda world: pack(tar_bytes(world.cifar))[:1000],
    "cannot be unpacked (": lambda world: lzma.compress(tar_bytes(world.cifar), preset=0)[:1000],
    f"does not contain {BATCH}": lambda world: tar_bytes(dict(list(world.cifar.items())[1:])),
    f"differs from CIFAR10's {BATCH}": lambda world: tar_bytes(
        world.cifar | {BATCH: pickle.dumps(Attack())}
    ),
}


@pytest.mark.parametrize("case", ARCHIVES)
def test_a_broken_archive_is_named_and_no_foreign_pickle_is_read(
    world, tmp_path, monkeypatch, case
):
    archive = tmp_path / "here" / "cifar10" / "cifar-10-python.tar.gz"
    put(archive.parent, {archive.name: ARCHIVES[case](world)})
    monkeypatch.setenv("COURSE_DATA", str(tmp_path / "here"))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(data.DataError) as error:
        data.load("cifar10")
    assert str(error.value).startswith(f"{archive} {case}")
    assert "`lessons data fetch cifar10`" in str(error.value)
    assert not (tmp_path / "was_here").exists()
    for path in (tmp_path / "cache").rglob("*batch*"):  # what came before the fault may be kept
        assert path.is_dir() or path.read_bytes() == world.cifar[f"{path.parent.name}/{path.name}"]


def test_a_batch_with_another_checksum_is_not_unpickled(world, tmp_path, monkeypatch):
    here = put(tmp_path / "here", {f"cifar10/{name}": it for name, it in world.cifar.items()})
    (here / "cifar10" / BATCH).write_bytes(pickle.dumps(Attack()))
    monkeypatch.setenv("COURSE_DATA", str(here))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(data.DataError, match="data_batch_1 differs from"):
        data.load("cifar10")
    assert not (tmp_path / "was_here").exists()
    pickle.loads((here / "cifar10" / BATCH).read_bytes())  # the attack is a real one
    assert (tmp_path / "was_here").exists()


@pytest.mark.parametrize("suffix", breadth([*TARS, ".gz"], quick=1))
@given(
    pieces=st.lists(
        st.tuples(st.integers(0, 1 << 22), st.binary(min_size=1, max_size=600), st.booleans()),
        min_size=1,
        max_size=3,
    )
)
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50, deadline=None
)
def test_any_damage_gives_the_right_bytes_or_a_sentence(world, tmp_path, suffix, pieces):
    entry = catalogue.entry("mnist" if suffix == ".gz" else "cifar10")
    right = world.mnist if suffix == ".gz" else world.cifar
    file = entry.files[1]
    whole = pack(right[file.name]) if suffix == ".gz" else TARS[suffix](tar_bytes(right))
    for where, piece, cut_off in pieces:
        at = where % (len(whole) + 1)
        whole = whole[:at] + piece + (b"" if cut_off else whole[at + len(piece) :])
    path = tmp_path / f"damaged{suffix}"
    path.write_bytes(whole)
    sentence = f"{path} is right"
    try:
        for good, content in files.read(entry, {file: path}):
            assert content == right[good.name]
    except data.DataError as error:
        sentence = str(error)
    assert sentence.startswith(f"{path} ")


def test_an_archive_writes_nothing_but_the_data_set(world, tmp_path, monkeypatch):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name in ("../../evil", str(tmp_path / "evil"), *world.cifar):
            member = tarfile.TarInfo(name)
            content = world.cifar.get(name, b"evil")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    put(tmp_path / "here", {"cifar10/cifar-10-python.tar": buffer.getvalue()})
    monkeypatch.setenv("COURSE_DATA", str(tmp_path / "here"))
    before = set(tmp_path.rglob("*"))
    assert data.load("cifar10").facts["synthetic"] is False
    new = {path.name for path in set(tmp_path.rglob("*")) - before if path.is_file()}
    assert new == {name.split("/")[1] for name in world.cifar} | {".cifar10.lock"}
