"""`lessons submit`: what is packed, what is left out, and what the grader will miss."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from autograder import collect
from autograder.read import read_files

ROOT = Path(__file__).parents[2]


PROGRAM = """
import argparse
from lessons.toolkit.record import Record
args = argparse.Namespace(model="mlp512", epochs=3, batch_size=32, lr=0.001, seed=1)
facts = {"name": "mnist", "sha256": "ab", "synthetic": True, "train_samples": 64,
         "test_samples": 10}
record = Record("02", args, source="keras", params=407050, dataset=facts)
for _ in range(3):
    with record.epoch(steps=2, samples=64) as epoch:
        epoch.log(loss=0.5, accuracy=0.9)
record.end(test_loss=0.1, test_accuracy=0.98)
"""


@pytest.fixture(scope="module")
def run_output():
    """What a program with a run record prints."""
    command = [sys.executable, "-c", PROGRAM]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A student's folder of lesson 02 with every gap open and nothing run."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "lessons" / "02_serial", tmp_path / "02_serial")
    return tmp_path / "02_serial"


def packed(path="02_serial.zip"):
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        return set(archive.namelist())


def test_an_untouched_folder_is_packed_and_all_that_misses_is_named(folder, lessons_command):
    done = lessons_command("submit", "02", "--in", folder)
    assert done.exit_code == 0, done.output
    assert packed() == {f"02_serial/{path.name}" for path in folder.iterdir()}
    for words in (
        "no output of any job",
        "no answers.txt",
        "train.py still has the gap of Exercise 2.1",
        "lesson.ipynb still has the gap of Exercise 2.3",
    ):
        assert words in done.output


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("weights.npy", b"x"),
        ("model.h5", b"x"),
        ("checkpoints/epoch_1.keras", b"x"),
        ("data/train-images", b"x"),
        (".ipynb_checkpoints/lesson-checkpoint.ipynb", b"{}"),
        ("__pycache__/train.cpython-311.pyc", b"x"),
        ("older.zip", b"x"),
    ],
)
def test_left_out(folder, lessons_command, name, content):
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_bytes(content)
    assert lessons_command("submit", "02", "--in", folder).exit_code == 0
    assert f"02_serial/{name}" not in packed()


@pytest.mark.parametrize("name", ["02_keras_7.out", "02_keras_7.err", "slurm-9.out", "answers.txt"])
def test_taken_along(folder, lessons_command, name):
    (folder / name).write_text("predict_gpu = no\n")
    lessons_command("submit", "02", "--in", folder)
    assert f"02_serial/{name}" in packed()


def test_a_link_is_left_out_and_named(folder, lessons_command):
    (folder / "02_keras_8.out").symlink_to("/etc/hostname")
    done = lessons_command("submit", "02", "--in", folder)
    assert "02_keras_8.out (a link)" in done.output
    assert "02_serial/02_keras_8.out" not in packed()


def test_an_output_without_a_run_and_answers_without_ids(folder, lessons_command):
    (folder / "02_keras_7.out").write_text("hello\n")
    (folder / "answers.txt").write_text("predict_gpu = no\n")
    done = lessons_command("submit", "02", "--in", folder)
    assert "no completed run of `keras` (source keras)" in done.output
    [line] = [line for line in done.output.splitlines() if "answers.txt has no" in line]
    assert "keras_epoch_s" in line
    assert "predict_gpu" not in line


def test_a_run_that_was_cut_is_named(folder, lessons_command, run_output):
    whole = run_output
    (folder / "02_keras_7.out").write_text(whole)
    done = lessons_command("submit", "02", "--in", folder)
    assert "run did not end" not in done.output
    assert "of `keras`" not in done.output
    assert "of `torch`" in done.output
    cut = whole[: whole.index('"key":"run_stop"')].rpartition("\n")[0] + "\n"
    (folder / "02_keras_7.out").write_text(cut)
    done = lessons_command("submit", "02", "--in", folder)
    assert "02_keras_7.out: its run did not end well" in done.output
    assert "of `keras`" in done.output


def test_the_grader_finds_what_was_packed(folder, lessons_command, run_output, tmp_path):
    (folder / "02_keras_7.out").write_text(run_output)
    (folder / "answers.txt").write_text("predict_gpu = no\n")
    lessons_command("submit", "02", "--in", folder, "--out", tmp_path / "handed" / "you.zip")
    [student] = collect.find_students([tmp_path / "handed"])
    assert student.name == "you"
    with collect.opened(student) as [found]:
        assert found.lesson == "02"
        assert found.answers is not None
        [run] = read_files(found.outputs)
        assert run.outcome == "completed"


def test_a_folder_with_another_name_still_says_its_lesson(folder, lessons_command):
    folder.rename(folder.parent / "mine")
    lessons_command("submit", "2", "--in", folder.parent / "mine", "--out", "x.zip")
    assert "02_mine/train.py" in packed("x.zip")


def test_the_same_folder_gives_the_same_bytes(folder, lessons_command):
    lessons_command("submit", "02", "--in", folder, "--out", "a.zip")
    lessons_command("submit", "02", "--in", folder, "--out", "b.zip")
    assert Path("a.zip").read_bytes() == Path("b.zip").read_bytes()


def test_too_much_is_refused_and_the_old_zip_stays(folder, lessons_command):
    Path("02_serial.zip").write_bytes(b"old")
    with (folder / "02_keras_7.out").open("wb") as file:
        file.truncate(60_000_000)
    done = lessons_command("submit", "02", "--in", folder)
    assert done.exit_code == 1
    assert "the largest file is 02_keras_7.out with 60 MB" in done.output
    assert Path("02_serial.zip").read_bytes() == b"old"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["02", "--in", "02_serial", "--out", "x.tar"], "ends in .zip"),
        (["00", "--in", "02_serial"], "is lesson 02, not 00"),
        (["02", "--in", "elsewhere"], "does not exist"),
        (["02", "--in", "."], None),
    ],
)
def test_usage(folder, lessons_command, arguments, words):
    done = lessons_command("submit", *arguments)
    assert done.exit_code == (0 if words is None else 2)
    assert (words or "02_serial.zip") in done.output
