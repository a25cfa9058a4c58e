"""Tests of `lessons data fetch|status|verify` as a user sees them."""

import pytest
from click.testing import CliRunner

from lessons.toolkit import data
from lessons.toolkit.data.cli import data_group


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


def test_fetch_one_set_into_a_folder_for_a_class(mirror, lessons_data, tmp_path, monkeypatch):
    shared = tmp_path / "shared"
    assert lessons_data("fetch", "cifar10", "--out", str(shared)).exit_code == 0
    monkeypatch.setenv("COURSE_DATA", str(shared))
    monkeypatch.setenv("COURSE_MIRRORS", "none")
    assert data.load("cifar10").facts["synthetic"] is False
    assert not (tmp_path / "cache").exists()


def test_fetch_without_a_mirror_names_each_set_and_the_way_out(world, lessons_data):
    done = lessons_data("fetch")
    assert done.exit_code == 1
    assert "Error: MNIST cannot be downloaded" in done.stderr
    assert "Error: CIFAR10 cannot be downloaded" in done.stderr
    assert "Traceback" not in done.output


def test_fetch_replaces_a_broken_file_of_the_cache(mirror, lessons_data, tmp_path):
    lessons_data("fetch", "mnist")
    (tmp_path / "cache" / "mnist" / "t10k-labels-idx1-ubyte.gz").write_bytes(b"<html>")
    assert lessons_data("status", "mnist").exit_code == 1
    assert lessons_data("fetch", "mnist").exit_code == 0
    assert lessons_data("status", "mnist").exit_code == 0


def test_fetch_leaves_a_folder_that_is_not_its_own_alone(mirror, here, lessons_data):
    broken = here / "mnist" / "t10k-labels-idx1-ubyte.gz"
    broken.write_bytes(b"<html>")
    done = lessons_data("fetch", "mnist")
    assert done.exit_code == 1
    assert f"Error: {broken} cannot be unpacked" in done.stderr
    assert "Replace it with a good copy" in done.stderr
    assert broken.read_bytes() == b"<html>"


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


def test_status_says_that_the_folder_of_course_data_is_not_there(
    world, lessons_data, tmp_path, monkeypatch
):
    monkeypatch.setenv("COURSE_DATA", str(tmp_path / "nowhere"))
    done = lessons_data("status", "mnist")
    assert done.exit_code == 1
    assert f"there is no folder {tmp_path}/nowhere: correct COURSE_DATA" in done.stderr
    assert lessons_data("status", "cifar").exit_code == 2
