"""Grading a class folder: names, archives and files that are no submissions."""

import json
import shutil

import pytest
from click.testing import CliRunner

from autograder.cli import main
from autograder.settings.rubric import FOLDER
from tests.autograder.make_record import hand_in, make_record, write_lines


def test_nothing_there_is_a_usage_error(tmp_path, grade):
    (tmp_path / "class").mkdir()
    result = grade(tmp_path / "class")
    assert (result.exit_code, "no submissions" in result.output) == (2, True)
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


def test_a_lesson_without_a_rubric_is_called_so(tmp_path, grade):
    hand_in(tmp_path / "class/ada/07")
    (tmp_path / "rubrics").mkdir()
    shutil.copy(FOLDER / "02.yaml", tmp_path / "rubrics")
    result = grade(tmp_path / "class", "--rubrics", tmp_path / "rubrics")
    (record,) = json.loads((result.folder / "records/ada.json").read_text())["grades"]
    assert (record["lesson"], record["status"]) == ("07", "no rubric")
    assert [note["code"] for note in record["findings"]] == ["no rubric"]


LONG = "x" * 300  # no file can have this name
REFUSED = {
    f"grade {LONG}": "does not exist",
    f"grade class --profile full --out {LONG}": "File name too long",
    f"grade class --set expected={LONG}": "there is no folder",
    f"check-mine {LONG}": "does not exist",
    "grade class --profile full --set reruns=empty": "empty has no reruns: run `cluster rerun",
    "collect class --from moodle --into new --worksheet sheet.csv": "is not a grading worksheet",
}


@pytest.mark.parametrize("words", REFUSED)
def test_a_mistake_is_a_sentence_and_leaves_nothing(tmp_path, monkeypatch, words):
    hand_in(tmp_path / "class" / "ada" / "02")
    (tmp_path / "empty").mkdir()
    write_lines(tmp_path / "sheet.csv", ["Identifier", "Participant 5801"])
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(main, words.split())
    assert (result.exit_code, REFUSED[words] in result.stderr) == (2, True), result.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"class", "empty", "sheet.csv"}
