"""Messy submissions of real classes: odd archives, names, encodings, and misplaced files."""

import csv
import unicodedata

import pytest

from autograder.codes import FindingCode
from tests.autograder.make_record import RIGHT_ANSWERS, hand_in, make_record, write_lines

NOT_READ = "An archive could not be read completely"


@pytest.fixture
def grade(collect_and_grade):
    return collect_and_grade


def reasons(result):
    """Return every reason to look, by student and lesson."""
    with (result.folder / "grades.csv").open() as file:
        return {(row["student"], row["lesson"]): row["look"] for row in csv.DictReader(file)}


def rows(result) -> dict[tuple[str, str], list[str]]:
    return {(line[0], line[1]): line[2:] for line in result.table}


def page_of(result, student) -> str:
    return (result.folder / "students" / f"{student}.html").read_text()


# --- not a folder of outputs ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "lesson"),
    [
        ("sven.7z", "–"),
        ("sven.RAR", "–"),
        ("sven/work.tar.zst", "–"),
        ("sven/02_serial.7z", "02"),
        ("sven/02_serial/outputs.rar", "02"),
    ],
)
def test_an_archive_that_is_not_read_loses_nobody(tmp_path, grade, path, lesson):
    hand_in(tmp_path / "class" / "ada" / "02")
    write_lines(tmp_path / "class" / "README.txt", ["no student"])
    write_lines(tmp_path / "class" / path, ["7z"])
    result = grade(tmp_path / "class")
    found = rows(result)["sven", lesson]
    assert found[1:3] == ["missing", "-"]
    assert found[3].startswith(NOT_READ)
    assert found[3].endswith(path.rpartition("/")[2])
    assert rows(result)["ada", "02"][0] == "10/10"
    assert len(result.table) == 2
    assert result.exit_code == 1


def test_files_that_are_not_taken_are_named(tmp_path, grade):
    hand_in(tmp_path / "class" / "ada" / "02")
    for name in ("train.py", "lesson.ipynb", ".DS_Store"):
        write_lines(tmp_path / "class" / "ben" / "02" / name, ["x"])
    result = grade(tmp_path / "class")
    assert rows(result)["ben", "02"][1] == "missing"  # because of the folder's name
    page = page_of(result, "ben")
    assert "only 02/lesson.ipynb, 02/train.py" in page
    (tmp_path / "class" / "ben" / "02" / "timestamp.txt").write_text("2026-03-01 20:00:00 UTC")
    assert rows(grade(tmp_path / "class"))["ben", "02"][1] == "missing"


@pytest.mark.parametrize("name", ["notes.out", "answers.txt"])
def test_what_lies_in_no_students_folder_is_named(tmp_path, grade, name):
    hand_in(tmp_path / "class" / "ada" / "02")
    write_lines(tmp_path / "class" / name, ["x"])
    write_lines(tmp_path / "class" / "README.txt", ["no student"])
    (tmp_path / "class" / "ben").symlink_to(tmp_path / "class" / "ada")
    result = grade(tmp_path / "class")
    assert [row[0] for row in result.table] == ["ada"]
    [told] = [line for line in result.collected.stdout.splitlines() if "belong to nobody" in line]
    assert name in told
    assert "ben" in told
    assert "README" not in result.collected.stdout


# --- names ------------------------------------------------------------------------------------


def test_one_name_in_two_spellings_is_one_student(tmp_path, grade):
    name = "zo\u00eb"
    apart = unicodedata.normalize("NFD", name)
    hand_in(tmp_path / "class" / apart / "02")
    hand_in(tmp_path / "class" / name / "00")
    write_lines(tmp_path / "roster.csv", ["student", name])
    result = grade(tmp_path / "class", "--roster", tmp_path / "roster.csv")
    assert sorted(rows(result)) == [(name, "00"), (name, "02")]
    assert "roster" not in result.stdout


@pytest.mark.parametrize("copy", [True, False])
def test_two_folders_of_one_student_are_to_look_at_unless_they_are_copies(tmp_path, grade, copy):
    hand_in(tmp_path / "class" / "ada" / "02")
    other = {} if copy else {"keras": make_record(run="12121212", test_accuracy=0.981)}
    hand_in(tmp_path / "class" / "Ada Lovelace" / "02", **other)
    write_lines(tmp_path / "roster.csv", ["student,name", "ada,Ada Lovelace"])
    result = grade(tmp_path / "class", "--roster", tmp_path / "roster.csv")
    assert (FindingCode.FOLDERS_JOINED.heading in reasons(result)["ada", "02"]) is not copy


# --- in the wrong place -----------------------------------------------------------------------


def test_outputs_of_another_lesson_are_looked_at_and_ask_nobody_for_it(tmp_path, grade):
    hand_in(tmp_path / "class" / "ada" / "02")
    hand_in(tmp_path / "class" / "ben" / "03_baseline")
    write_lines(tmp_path / "roster.csv", ["student", "ada", "ben"])
    result = grade(tmp_path / "class", "--roster", tmp_path / "roster.csv")
    found = rows(result)
    assert sorted(found) == [("ada", "02"), ("ben", "02"), ("ben", "03")]
    assert found["ben", "03"][0] == "0/10"
    assert FindingCode.OTHER_LESSON.heading in reasons(result)["ben", "03"]
    assert found["ben", "02"][1] == "missing"


def test_several_folders_for_one_lesson(tmp_path, grade):
    """The runs of all folders count.

    Answers that differ do not, because none of them is the right one.
    """
    other = RIGHT_ANSWERS | {"predict_accuracy": "0.5", "keras_epoch_s": ""}
    hand_in(tmp_path / "class" / "ada" / "02_serial", answers=other)
    late = make_record(run="12121212", started="2026-03-03T10:00:00+00:00", test_accuracy=0.981)
    hand_in(tmp_path / "class" / "ada" / "02_serial_v2", keras=late)
    hand_in(tmp_path / "class" / "ada" / "lesson 02", keras=late)  # a copy
    result = grade(tmp_path / "class")
    found = rows(result)["ada", "02"]
    assert found[0] == "9.67/10"
    assert found[-1] == "`predict_accuracy` has different answers, so none counts"
    page = page_of(result, "ada")
    given = f"predict_accuracy = 0.5 and {RIGHT_ANSWERS['predict_accuracy']}"
    assert page.count(f"different answers: {given}<") == 2  # in the check and beside it
    assert "no answer" not in page
    assert "keep one of these" in page.lower()
    for folder in ("02_serial", "02_serial_v2"):
        assert f"<code>{folder}/02_serial_1.out</code>" in page
    assert "0.981" in page


# --- what the files contain -------------------------------------------------------------------


def test_files_as_windows_writes_them(tmp_path, grade):
    folder = hand_in(tmp_path / "class" / "ada" / "02")
    for path in folder.iterdir():
        text = path.read_text().replace("\n", "\r\n")
        path.write_bytes(text.encode("utf-8-sig"))
    result = grade(tmp_path / "class")
    assert rows(result)["ada", "02"][:3] == ["10/10", "graded", "self-consistent"]
    assert "could not be read" not in page_of(result, "ada")
