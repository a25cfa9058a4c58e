"""Tests of `lessons submit`: what it packs, what it leaves out, what the grader will miss."""

import re
import zipfile
from pathlib import Path

import pytest


def packed(path="02_serial.zip"):
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        return set(archive.namelist())


def test_an_untouched_folder_is_packed_and_all_that_misses_is_named(folder, lessons_command):
    done = lessons_command("submit", "02", "--in", folder)
    assert done.exit_code == 0, done.output
    assert packed() == {f"02_serial/{path.name}" for path in folder.iterdir() if path.is_file()}
    for words in (
        "no output of any job",
        "no answers.txt",
        "train.py still has the gap of Exercise 2.1",
        "02_serial.ipynb still has the gap of Exercise 2.3",
    ):
        assert words in done.output


def test_in_its_folder_a_lesson_needs_no_number(folder, lessons_command, monkeypatch):
    outside = lessons_command("submit")
    assert outside.exit_code == 2
    assert "Which lesson" in outside.output
    monkeypatch.chdir(folder)
    assert lessons_command("submit").exit_code == 0
    assert "02_serial/train.py" in packed()


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


def test_a_link_is_left_out_and_named(folder, lessons_command):
    (folder / "02_keras_8.out").symlink_to("/etc/hostname")
    done = lessons_command("submit", "02", "--in", folder)
    assert "02_keras_8.out (a link)" in done.output
    assert "02_serial/02_keras_8.out" not in packed()


def test_an_output_without_a_run_and_answers_without_ids(folder, lessons_command):
    (folder / "02_keras_7.out").write_text("hello\n")
    (folder / "answers.txt").write_text("predict_accuracy = 2\nkeras_epoch = 1\n")
    done = lessons_command("submit", "02", "--in", folder)
    assert "answers.txt has keras_epoch: no question" in done.output
    assert "no completed run of `keras` (source keras); its job file is job.sbatch" in done.output
    assert "(source torch); its job file is job_torch.sbatch\n" in done.output
    [line] = [line for line in done.output.splitlines() if "answers.txt has no" in line]
    assert "keras_epoch_s" in line
    assert "predict_accuracy" not in line


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("keras_epoch_s = about two", "about two has the wrong form. Expected: digits only"),
        ("predict_accuracy = 97", "digits only: a fraction of 1"),
        ("predict_accuracy = 0.5", ""),  # a prediction may be wrong
    ],
)
def test_an_answer_of_another_kind_is_named(folder, lessons_command, answer, words):
    (folder / "answers.txt").write_text(answer + "\n")
    done = lessons_command("submit", "02", "--in", folder)
    assert bool(re.search("the wrong form|cannot be compared", done.output)) == bool(words)
    assert words in done.output


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


def test_too_much_is_refused_and_the_old_zip_stays(folder, lessons_command):
    Path("02_serial.zip").write_bytes(b"old")
    with (folder / "02_keras_7.out").open("wb") as file:
        file.truncate(60_000_000)
    done = lessons_command("submit", "02", "--in", folder)
    assert done.exit_code == 1
    assert "The largest file is 02_keras_7.out with 60 MB" in done.output
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


def test_answers_are_checked_as_in_the_notebook(folder, lessons_command, run_output):
    (folder / "02_keras_7.out").write_text(run_output)
    (folder / "answers.txt").write_text("interval_14_5_low = 9\ns4_epoch_s = 7.23\n")
    end = lessons_command("submit", "02", "--in", folder).output.partition("\n02 A serial")[2]
    [right] = [line for line in end.splitlines() if "look right" in line]
    assert right.split(": ")[1] == "s4_epoch_s"
    assert re.search(r"These answers are wrong:\n    interval_14_5_low: \S", end)
    assert "interval_14_5_low" not in end.partition("Only your instructor")[2]
    (folder / "answers.txt").write_text("s4_epoch_s = 7.23\n")
    without = lessons_command("submit", "02", "--in", folder).output
    lost = [re.search(r"([\d.]+) not yet", text) for text in (end, without)]
    assert lost[0][1] == lost[1][1]  # a wrong answer is lost, like one that is missing


def test_a_run_on_synthetic_data_is_named(folder, lessons_command, run_output):
    real = run_output.replace('"synthetic":true', '"synthetic":false')
    for text, synthetic in ((run_output, True), (real, False)):
        (folder / "02_keras_7.out").write_text(text)
        output = lessons_command("submit", "02", "--in", folder).output
        assert ("lessons data fetch" in output) is synthetic


def test_it_ends_with_what_the_outputs_decide(folder, lessons_command, run_output):
    (folder / "02_keras_7.out").write_text(run_output)
    done = lessons_command("submit", "02", "--in", folder)
    end = done.output.partition("\n02 A serial program")[2]
    assert "points earned" in end
    assert end.rstrip().endswith("For the reasons: autograder check-mine 02_serial")
    (folder / "02_keras_7.out").unlink()
    done = lessons_command("submit", "02", "--in", folder)
    assert "points earned" not in done.output
