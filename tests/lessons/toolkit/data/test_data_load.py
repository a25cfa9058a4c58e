"""Tests of `data.load`: right arrays from any packing, and how a program ends without them."""

import hashlib
import os
import pickle
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest
from generated_data import World, pack, tar_bytes

from lessons.toolkit import data
from lessons.toolkit.data import catalogue
from tests.breadth import breadth

TARS: dict[str, Callable[[bytes], bytes]] = {".tar": lambda tar: tar, ".tar.gz": pack}


def put(root, files: dict[str, bytes]):
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return root


def mnist_packings(world: World) -> dict[str, dict[str, bytes]]:
    packed = {f"{name}.gz": pack(content) for name, content in world.mnist.items()}
    return {
        "packed": {f"mnist/{name}": content for name, content in packed.items()},
        "unpacked": {f"mnist/{name}": content for name, content in world.mnist.items()},
        "without folder": packed,
        "as torchvision": {f"MNIST/raw/{name}": content for name, content in packed.items()},
    }


def cifar_packings(world: World) -> dict[str, dict[str, bytes]]:
    tar = tar_bytes(world.cifar)
    archives = {f"cifar10/cifar-10-python{suffix}": packed(tar) for suffix, packed in TARS.items()}
    return {name: {name: content} for name, content in archives.items()} | {
        "unpacked": {f"cifar10/{name}": content for name, content in world.cifar.items()},
        "archive without folder": {"cifar-10-python.tar.gz": pack(tar)},
    }


def assert_right(loaded: data.DataSet, right: dict[str, np.ndarray], divisor: float = 1) -> None:
    for name, array in right.items():
        expected = array / np.float32(divisor) if name[0] == "x" else array
        np.testing.assert_array_equal(getattr(loaded, name), expected)


@pytest.mark.parametrize("packing", ["packed", "unpacked", "without folder", "as torchvision"])
def test_mnist_from_any_packing(world, tmp_path, monkeypatch, packing):
    monkeypatch.setenv("COURSE_DATA", str(put(tmp_path / "here", mnist_packings(world)[packing])))
    assert_right(data.load("mnist"), world.arrays["mnist"], 255)


@pytest.mark.parametrize(
    "packing",
    [
        *(f"cifar10/cifar-10-python{suffix}" for suffix in TARS),
        "unpacked",
        "archive without folder",
    ],
)
@pytest.mark.parametrize("cache", breadth(["writable", "not writable"]))
def test_cifar_from_any_packing(world, tmp_path, monkeypatch, packing, cache):
    monkeypatch.setenv("COURSE_DATA", str(put(tmp_path / "here", cifar_packings(world)[packing])))
    if cache == "not writable":
        (tmp_path / "file").touch()
        monkeypatch.setenv("COURSE_DATA_CACHE", str(tmp_path / "file" / "cache"))
    for _ in range(2):  # the second time from what the first has unpacked
        assert_right(data.load("cifar10", as_float=False), world.arrays["cifar10"])
    few = data.load("cifar10", train_samples=30, test_samples=7, as_float=False)
    right = world.arrays["cifar10"]
    np.testing.assert_array_equal(few.x_train, right["x_train"][:30])
    np.testing.assert_array_equal(few.y_test, right["y_test"][:7])


def test_what_a_program_gets(world, tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_DATA", str(world.lay_out(tmp_path / "here")))
    mnist = data.load("mnist", train_samples=50)
    assert (mnist.x_train.shape, mnist.x_train.dtype) == ((50, 28, 28), np.float32)
    assert (mnist.y_train.shape, mnist.y_train.dtype) == ((50,), np.int64)
    assert 0 <= mnist.x_train.min() < 0.01 < 0.99 < mnist.x_train.max() <= 1
    assert mnist.x_train.flags.writeable  # torch warns of arrays that are not
    digests = [hashlib.sha256(content).hexdigest() for content in world.mnist.values()]
    assert mnist.facts == {
        "name": "mnist",
        "sha256": hashlib.sha256("".join(digests).encode()).hexdigest(),
        "synthetic": False,
        "train_samples": 50,
        "test_samples": 40,
    }


def test_course_data_goes_before_the_cache_and_files_are_looked_for_singly(
    world, tmp_path, monkeypatch
):
    files = mnist_packings(world)["unpacked"]
    names = list(files)
    put(tmp_path / "cache", {names[0]: files[names[0]], names[1]: b"not looked at"})
    here = put(tmp_path / "here", {name: files[name] for name in names[1:]})
    monkeypatch.setenv("COURSE_DATA", str(here))
    assert_right(data.load("mnist"), world.arrays["mnist"], 255)


PROGRAM = "from lessons.toolkit import data; data.load('mnist'); print('goes on')"


def run(*command: str, **extra: str) -> subprocess.CompletedProcess:
    environ = os.environ | extra
    return subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60)


def test_a_program_ends_with_one_sentence(world, tmp_path):
    here = put(tmp_path / "here", {f"mnist/{name}": b"" for name in world.mnist})
    (tmp_path / "train.py").write_text(PROGRAM)
    done = run(sys.executable, str(tmp_path / "train.py"), COURSE_DATA=str(here))
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith(f"train.py: {here}/mnist/train-images-idx3-ubyte differs ")
    assert done.stderr.count("\n") == 1


@pytest.mark.ranks
def test_one_rank_without_data_ends_all_ranks(world, tmp_path):
    here = world.lay_out(tmp_path / "here")
    empty = put(tmp_path / "empty", {f"mnist/{name}": b"" for name in world.mnist})
    (tmp_path / "train.py").write_text(
        "import os\n"
        "from mpi4py import MPI\n"
        f"os.environ['COURSE_DATA'] = [{str(here)!r}, {str(empty)!r}][MPI.COMM_WORLD.rank]\n"
        "from lessons.toolkit import data\n"
        "data.load('mnist')\n"
        "MPI.COMM_WORLD.allreduce(1)\n"
    )
    mpirun = [str(os.path.join(os.path.dirname(sys.executable), "mpirun")), "--oversubscribe"]
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    done = run(*mpirun, *root, "-n", "2", sys.executable, str(tmp_path / "train.py"))
    assert done.returncode != 0
    assert f"train.py: {empty}/mnist/train-images-idx3-ubyte differs " in done.stderr
    assert "Traceback" not in done.stderr


def test_the_import_is_light():
    heavy = "tensorflow torch rich click filelock urllib.request tarfile"
    program = (
        "import sys, lessons.toolkit.data\n"
        f"print([name for name in {heavy.split()} if name in sys.modules])"
    )
    assert run(sys.executable, "-c", program).stdout == "[]\n"


def test_the_courses_own_catalogue_is_whole(monkeypatch):
    monkeypatch.delenv("COURSE_CATALOGUE", raising=False)
    sets = catalogue.catalogue()
    assert set(sets) == {"mnist", "cifar10"}
    for entry in sets.values():
        assert {file for pack in entry.packs for file in entry.inside(pack)} == set(entry.files)
        assert all(address.startswith("https://") for address in entry.mirrors)
        hashes = [each.sha256 for each in (*entry.files, *entry.packs)]
        assert all(len(bytes.fromhex(digest)) == 32 for digest in hashes)


IMAGES = "train-images-idx3-ubyte"
BATCH = "cifar-10-batches-py/data_batch_1"
# How the sentence goes on after the file's name -> the file's name and its bytes.
BROKEN = {
    "differs from MNIST's": lambda good: (IMAGES, good[:500]),
    "cannot be unpacked (Not": lambda good: (f"{IMAGES}.gz", b"<html>Sign in</html>"),
}


@pytest.mark.parametrize("case", BROKEN)
@pytest.mark.parametrize("where", ["COURSE_DATA", "COURSE_DATA_CACHE"])
def test_a_broken_file_is_named_with_the_way_out(world, tmp_path, monkeypatch, case, where):
    name, content = BROKEN[case](world.mnist[IMAGES])
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
