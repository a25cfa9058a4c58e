"""Grading a class folder: names, archives and files that are no submissions."""

import pytest
from click.testing import CliRunner

from autograder.cli import main
from tests.autograder.class_yaml import setting
from tests.autograder.make_record import (
    hand_in,
    make_record,
    write_lines,
)


def test_nothing_there_is_a_usage_error(tmp_path, grade):
    (tmp_path / "class").mkdir()
    result = grade(tmp_path / "class")
    assert result.exit_code == 2
    assert "no submissions" in result.output
    assert grade(tmp_path / "nowhere").exit_code == 2


@pytest.mark.parametrize("name", ["job.out", "submissions.zip"])
def test_a_file_has_to_be_collected_first(tmp_path, grade, name):
    result = grade(write_lines(tmp_path / name, make_record()))
    assert result.exit_code == 2
    assert "autograder collect" in result.stderr


def test_one_students_own_folder_is_no_class(tmp_path, grade):
    hand_in(tmp_path / "ada" / "02_serial")
    result = grade(tmp_path / "ada")
    assert result.exit_code == 2
    assert "looks like one student's folder" in result.stderr


@pytest.mark.parametrize("name", ["02_serial/work.zip", "work.zip", "02_serial.7z"])
def test_archives_in_a_class_are_named_and_not_opened(tmp_path, grade, name):
    folder = hand_in(tmp_path / "class" / "ada" / "02_serial")
    (folder.parent / name).write_bytes(b"PK")
    result = grade(tmp_path / "class")
    [row] = result.table
    assert row[:3] == ["ada", "02", "10/10"]
    assert result.exit_code == 1
    page = (result.folder / "students" / "ada.html").read_text()
    assert name.rpartition("/")[2] in page


@pytest.mark.parametrize("beside", ["ada/02_serial/__pycache__", "ada/checkpoints", "__pycache__"])
def test_what_programs_leave_behind_is_no_submission(tmp_path, grade, beside):
    folder = hand_in(tmp_path / "class" / "ada" / "02_serial")
    (tmp_path / "class" / beside).mkdir()
    (folder / "train.py").write_text("print('never run')\n")
    result = grade(tmp_path / "class")
    assert [row[:3] for row in result.table] == [["ada", "02", "10/10"]]


LONG = "x" * 300
TOO_LONG = [
    (["grade", LONG], "File name too long"),
    (["grade", "class", "--out", LONG, "--profile", "full"], "File name too long"),
    (["grade", "class", "--rubrics", LONG], "does not exist"),
    (["grade", "class", *setting("expected", LONG)], "there is no folder"),
    (["grade", "class", *setting("released", LONG)], "there is no folder"),
]


@pytest.mark.parametrize(("words", "sentence"), TOO_LONG)
def test_a_name_that_no_file_can_have_is_a_sentence(tmp_path, monkeypatch, words, sentence):
    hand_in(tmp_path / "class" / "ada" / "02")
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(main, words)
    assert isinstance(result.exception, SystemExit)
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["class"]


def test_of_a_class_that_is_graded_without_a_folder_it_is_said_that_nothing_is_kept(tmp_path):
    for name in ("ada", "ben"):
        hand_in(tmp_path / "class" / name / "02")
    done = CliRunner().invoke(main, ["grade", str(tmp_path / "class"), "--profile", "smoke"])
    assert "Nothing was saved: --out FOLDER writes pages and tables." in done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"class"}
