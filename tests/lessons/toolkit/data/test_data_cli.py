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
    return [[row[0], row[1], " ".join(row[4:-1]), row[-1]] for row in rows]


def test_fetch_then_all_is_well(mirror, lessons_data, tmp_path):
    done = lessons_data("fetch")
    assert done.exit_code == 0
    assert f"MNIST is complete and verified in {tmp_path}/cache/mnist\n" in done.stdout
    assert f"CIFAR10 is complete and verified in {tmp_path}/cache/cifar10/" in done.stdout
    asked = len(mirror.requests)
    assert lessons_data("fetch").exit_code == 0  # and asks nobody
    assert lessons_data("verify").exit_code == 0
    assert len(mirror.requests) == asked


def test_fetch_one_set_into_a_folder_for_a_class(mirror, lessons_data, tmp_path, monkeypatch):
    shared = tmp_path / "shared"
    done = lessons_data("fetch", "cifar10", "--out", str(shared))
    assert done.exit_code == 0
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
    broken = tmp_path / "cache" / "mnist" / "t10k-labels-idx1-ubyte.gz"
    broken.write_bytes(b"<html>")
    done = lessons_data("fetch", "mnist")
    assert done.exit_code == 0
    assert "is a web page, not data" in done.stderr
    assert lessons_data("verify", "mnist").exit_code == 0


def test_fetch_leaves_a_folder_that_is_not_its_own_alone(mirror, here, lessons_data):
    broken = here / "mnist" / "t10k-labels-idx1-ubyte.gz"
    broken.write_bytes(b"<html>")
    done = lessons_data("fetch", "mnist")
    assert done.exit_code == 1
    assert f"Error: {broken} is a web page, not data. Replace it with a good copy" in done.stderr
    assert broken.read_bytes() == b"<html>"


def test_status_shows_each_file_and_ends_well_whatever_it_finds(here, world, lessons_data):
    (here / "mnist" / "t10k-labels-idx1-ubyte.gz").unlink()
    (here / "mnist" / "t10k-images-idx3-ubyte.gz").write_bytes(b"")
    done = lessons_data("status")
    assert done.exit_code == 0
    assert "\x1b" not in done.output
    folder, archive = here / "mnist", str(here / "cifar10" / "cifar-10-python.tar.gz")
    assert states(done.stdout) == [
        ["mnist", "train-images-idx3-ubyte", "verified", f"{folder}/train-images-idx3-ubyte.gz"],
        ["mnist", "train-labels-idx1-ubyte", "verified", f"{folder}/train-labels-idx1-ubyte.gz"],
        ["mnist", "t10k-images-idx3-ubyte", "broken", f"{folder}/t10k-images-idx3-ubyte.gz"],
        ["mnist", "t10k-labels-idx1-ubyte", "missing", "-"],
        *(["cifar10", name, "verified", archive] for name in world.cifar),
    ]


def test_status_says_what_is_missing_and_what_to_do(here, lessons_data):
    assert lessons_data("status").stderr == ""
    (here / "mnist" / "t10k-labels-idx1-ubyte.gz").unlink()
    [sentence] = lessons_data("status").stderr.splitlines()
    assert "MNIST is not complete: 1 of 4 files are missing (t10k-labels-idx1-ubyte)" in sentence
    assert "Run `lessons data fetch mnist`" in sentence


def test_status_says_that_the_folder_of_course_data_is_not_there(
    world, lessons_data, tmp_path, monkeypatch
):
    monkeypatch.setenv("COURSE_DATA", str(tmp_path / "nowhere"))
    done = lessons_data("status", "mnist")
    assert done.exit_code == 0
    first, second = done.stderr.splitlines()
    assert f"COURSE_DATA names {tmp_path}/nowhere, and there is no such folder" in first
    assert f"`lessons data fetch --out {tmp_path}/nowhere`" in first
    assert "4 of 4 files are missing" in second


def test_status_does_not_open_an_archive_that_it_does_not_know(here, world, lessons_data):
    (here / "cifar10" / "cifar-10-python.tar.gz").write_bytes(b"whatever")
    assert {row[2] for row in states(lessons_data("status", "cifar10").output)} == {"not checked"}


def test_verify_names_what_is_broken_and_what_is_missing(here, lessons_data):
    (here / "mnist" / "t10k-images-idx3-ubyte.gz").write_bytes(b"")
    (here / "cifar10" / "cifar-10-python.tar.gz").write_bytes(b"broken")
    (here / "mnist" / "t10k-labels-idx1-ubyte.gz").unlink()
    done = lessons_data("verify")
    assert done.exit_code == 1
    errors = done.stderr.splitlines()
    assert len(errors) == 3
    assert "t10k-images-idx3-ubyte.gz is empty. " in errors[0]
    assert "1 of 4 files are missing (t10k-labels-idx1-ubyte). Run `lessons data" in errors[1]
    assert "cifar-10-python.tar.gz is not a whole archive" in errors[2]
    assert lessons_data("verify", "mnist").exit_code == 1


@pytest.mark.parametrize("command", ["fetch", "status", "verify"])
def test_an_unknown_name_is_one_sentence(world, lessons_data, command):
    done = lessons_data(command, "cifar")
    assert done.exit_code == 2
    assert done.stderr == "Error: There is no data set 'cifar'; did you mean 'cifar10'?\n"
