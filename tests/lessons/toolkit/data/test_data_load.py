"""Tests of `data.load`: right arrays from any packing, and how a program ends without them."""

import functools
import hashlib
import lzma
import os
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest
from generated_data import TRAIN, World, pack, tar_bytes

from lessons.toolkit import data
from lessons.toolkit.data import catalogue
from tests.breadth import breadth

TARS: dict[str, Callable[[bytes], bytes]] = {
    ".tar": lambda tar: tar,
    ".tar.gz": pack,
    ".tar.xz": functools.partial(lzma.compress, preset=0),
}


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
    backwards = tar_bytes(dict(reversed(world.cifar.items())))
    archives = {f"cifar10/cifar-10-python{suffix}": packed(tar) for suffix, packed in TARS.items()}
    return {name: {name: content} for name, content in archives.items()} | {
        "unpacked": {f"cifar10/{name}": content for name, content in world.cifar.items()},
        "archive without folder": {"cifar-10-python.tar.gz": pack(tar)},
        "other order": {"cifar10/cifar-10-python.tar": backwards},
    }


def assert_right(loaded: data.DataSet, right: dict[str, np.ndarray], divisor: float = 1) -> None:
    for name, array in right.items():
        expected = array / np.float32(divisor) if name[0] == "x" else array
        np.testing.assert_array_equal(getattr(loaded, name), expected)


def test_an_unpacked_file_in_the_cache_opens_before_a_packed_one(world, tmp_path, monkeypatch):
    unread = {f"mnist/{name}.gz": b"" for name in world.mnist}
    monkeypatch.setenv("COURSE_DATA", str(put(tmp_path / "here", unread)))
    put(tmp_path / "cache", mnist_packings(world)["unpacked"])
    assert_right(data.load("mnist", as_float=False), world.arrays["mnist"])


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
        "other order",
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


def test_an_archive_is_unpacked_once(world, tmp_path, monkeypatch):
    packing = cifar_packings(world)["cifar10/cifar-10-python.tar.xz"]
    here = put(tmp_path / "here", packing)
    monkeypatch.setenv("COURSE_DATA", str(here))
    data.load("cifar10")
    (here / "cifar10" / "cifar-10-python.tar.xz").write_bytes(b"not looked at any more")
    assert_right(data.load("cifar10"), world.arrays["cifar10"], 255)


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


@pytest.mark.parametrize("number", [0, -1, TRAIN + 1])
def test_more_samples_than_there_are(world, number):
    with pytest.raises(data.DataError, match=f"has 120 train samples, so train_samples={number} "):
        data.load("mnist", train_samples=number)


def test_a_name_that_is_not_there(world):
    with pytest.raises(data.DataError, match="no data set 'minst'; there are cifar10, mnist"):
        data.load("minst")


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


def test_a_program_may_catch_the_error_and_go_on(world):
    catch = (
        "from lessons.toolkit import data\n"
        "try: data.load('mist')\n"
        "except data.DataError: print('caught')\n"
        "1 / 0"
    )
    done = run(sys.executable, "-c", catch)
    assert done.stdout == "caught\n"
    assert "Traceback" in done.stderr
    assert "ZeroDivisionError" in done.stderr


def test_a_notebook_shows_one_line(world, capsys):
    from IPython.core.interactiveshell import InteractiveShell

    InteractiveShell().run_cell("from lessons.toolkit import data; data.load('minst')")
    shown = capsys.readouterr()
    assert (shown.out + shown.err).strip() == (
        "DataError: There is no data set 'minst'; there are cifar10, mnist."
    )


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
