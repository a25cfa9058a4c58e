"""Tests of fetching from a good mirror, and from bad ones."""

import os
import subprocess
import sys
import time

import pytest
from click.testing import CliRunner
from local_mirror import Mirror, changed, forbidden, good

from lessons.toolkit import data
from lessons.toolkit.data import catalogue, fetch, files
from lessons.toolkit.data.cli import data_group

LOAD = "import sys; from lessons.toolkit import data; print(data.load(sys.argv[1]).facts)"
IMAGES = "mnist/train-images-idx3-ubyte.gz"


def get() -> None:
    fetch.fetch(catalogue.entry("mnist"), files.cache_folder(), files.folders(), False)


def names_in(folder) -> set[str]:
    return {path.name for path in folder.rglob("*") if path.is_file() and path.name[0] != "."}


@pytest.mark.parametrize("name", ["mnist", "cifar10"])
def test_load_fetches_what_is_missing_once(mirror, world, name):
    for _ in range(2):
        loaded = data.load(name, as_float=False)
        assert (loaded.x_train == world.arrays[name]["x_train"]).all()
        assert loaded.facts["synthetic"] is False
    assert sorted(mirror.requests) == sorted(path for path in mirror.files if path.startswith(name))


def test_only_missing_files_are_fetched(mirror, world, tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "train-images-idx3-ubyte.gz").write_bytes(mirror.files[IMAGES])
    monkeypatch.setenv("COURSE_DATA", str(tmp_path / "here"))
    data.load("mnist")
    assert len(mirror.requests) == 3
    assert IMAGES not in mirror.requests
    fetch.fetch(catalogue.entry("mnist"), tmp_path / "class", [tmp_path / "class"])
    assert (len(mirror.requests), len(names_in(tmp_path / "class"))) == (3, 4), "copies"


@pytest.mark.parametrize(
    ("manner", "reason"), [(changed, "sent other bytes"), (forbidden, "answered 403")]
)
def test_a_bad_mirror_is_left_with_a_sentence(mirror, manner, reason, tmp_path, monkeypatch):
    monkeypatch.setattr(fetch, "SILENCE", 0.3)
    mirror.manner = manner
    mirror.files = {path: content for path, content in mirror.files.items() if path == IMAGES}
    with pytest.raises(data.DataError) as error:
        get()
    assert f"MNIST cannot be downloaded: {mirror.address}/{IMAGES} {reason}" in str(error.value)
    assert mirror.requests.count(IMAGES) == fetch.TRIES
    assert names_in(tmp_path / "cache") == set()


def test_the_next_mirror_is_asked(mirror, world, monkeypatch):
    bad = Mirror(mirror.files, changed)
    empty = Mirror({})
    nobody = "http://127.0.0.1:9"  # nothing answers at the discard port
    addresses = [nobody, bad.address, empty.address, mirror.address]
    monkeypatch.setenv("COURSE_MIRRORS", " ".join(addresses))
    get()
    data.load("mnist")
    assert set(bad.requests) == set(empty.requests) == set(mirror.requests)
    bad.close()
    empty.close()


def test_a_compute_node_does_not_try(mirror, world, monkeypatch, capsys):
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    assert data.load("mnist").facts["synthetic"] is True
    assert mirror.requests == []
    shown = " ".join(capsys.readouterr().err.split())
    assert (
        "Batch jobs do not download data: run `lessons data fetch mnist` on a login node" in shown
    )


def when_seven_wait(folder, manner):
    """Hold the first answer back until the other seven programs wait for the first."""

    def held(mirror, request, path, content):
        end = time.monotonic() + 60
        while time.monotonic() < end and len(mirror.requests) == 1:
            errors = [file.read_text() for file in folder.glob("rank*.err")]
            if sum("waiting for it" in text for text in errors) == 7:
                break
            time.sleep(0.05)
        manner(mirror, request, path, content)

    return held


def start_eight(folder, name: str) -> tuple[set[int], list[str], list[str]]:
    """Start eight programs that load at once, as ranks do; return codes, outputs and errors."""
    processes = []
    for rank in range(8):
        environ = os.environ | {
            "OMPI_COMM_WORLD_SIZE": "8",
            "OMPI_COMM_WORLD_LOCAL_RANK": str(rank),
        }
        with (folder / f"rank{rank}.err").open("w") as errors:
            command = [sys.executable, "-c", LOAD, name]
            start = subprocess.Popen(
                command, env=environ, stdout=subprocess.PIPE, stderr=errors, text=True
            )
        processes.append(start)
    outputs = [process.communicate(timeout=90)[0] for process in processes]
    errors_of_all = [(folder / f"rank{rank}.err").read_text() for rank in range(8)]
    return {process.returncode for process in processes}, outputs, errors_of_all


@pytest.mark.slow
def test_eight_processes_download_once(mirror, tmp_path):
    mirror.manner = when_seven_wait(tmp_path, good)
    codes, outputs, errors = start_eight(tmp_path, "mnist")
    assert codes == {0}
    assert len(set(outputs)) == 1
    assert "'synthetic': False" in outputs[0]
    wanted = [path for path in mirror.files if path.startswith("mnist")]
    assert sorted(mirror.requests) == sorted(wanted)
    assert sum("Getting" in text for text in errors) == 1
    assert sum("waiting for it" in text for text in errors) == 7


@pytest.fixture
def lessons_data():
    return lambda *arguments: CliRunner().invoke(data_group, arguments)


@pytest.fixture
def here(world, tmp_path, monkeypatch):
    """Put both sets into the folder that COURSE_DATA names."""
    folder = world.lay_out(tmp_path / "here")
    monkeypatch.setenv("COURSE_DATA", str(folder))
    return folder


def states(output: str) -> list[list[str]]:
    """Return (data set, file, state, where) of the table's rows."""
    rows = [line.split() for line in output.splitlines()[1:]]
    return [[row[0], row[1], row[3], row[4]] for row in rows]


def test_fetch_then_all_is_well(mirror, world, lessons_data, tmp_path):
    done = lessons_data("fetch")
    assert done.exit_code == 0
    assert {row[2] for row in states(done.stdout)} == {"verified"}
    assert {row[3] for row in states(done.stdout) if row[0] == "mnist"} == {
        f"{tmp_path}/cache/mnist/{name}.gz" for name in world.mnist
    }
    asked = len(mirror.requests)
    assert lessons_data("fetch").exit_code == 0  # and asks nobody
    assert lessons_data("status").exit_code == 0
    assert len(mirror.requests) == asked


def test_fetch_replaces_a_broken_file_of_the_cache(mirror, lessons_data, tmp_path):
    lessons_data("fetch", "mnist")
    (tmp_path / "cache" / "mnist" / "t10k-labels-idx1-ubyte.gz").write_bytes(b"<html>")
    assert lessons_data("status", "mnist").exit_code == 1
    assert lessons_data("fetch", "mnist").exit_code == 0
    assert lessons_data("status", "mnist").exit_code == 0


def test_status_shows_each_file_and_fails_if_one_is_missing_or_broken(here, world, lessons_data):
    archive = here / "cifar10" / "cifar-10-python.tar.gz"
    folder = here / "mnist"
    (folder / "t10k-labels-idx1-ubyte.gz").unlink()
    (folder / "t10k-images-idx3-ubyte.gz").write_bytes(b"broken")
    done = lessons_data("status")
    assert done.exit_code == 1
    assert states(done.stdout) == [
        *(["cifar10", name, "verified", str(archive)] for name in world.cifar),
        ["mnist", "train-images-idx3-ubyte", "verified", f"{folder}/train-images-idx3-ubyte.gz"],
        ["mnist", "train-labels-idx1-ubyte", "verified", f"{folder}/train-labels-idx1-ubyte.gz"],
        ["mnist", "t10k-images-idx3-ubyte", "broken", f"{folder}/t10k-images-idx3-ubyte.gz"],
        ["mnist", "t10k-labels-idx1-ubyte", "missing", "-"],
    ]
    broken, missing = done.stderr.splitlines()
    assert "t10k-images-idx3-ubyte.gz cannot be unpacked" in broken
    assert "MNIST is not complete: run `lessons data fetch mnist`" in missing
    assert lessons_data("status", "cifar10").exit_code == 0
    archive.write_bytes(b"broken")
    assert lessons_data("status", "cifar10").exit_code == 1
