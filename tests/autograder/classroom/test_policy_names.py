"""Rows of overrides and extensions name students of the class, or nothing is graded."""

import csv

import pytest

from tests.autograder.class_yaml import late_rules, setting
from tests.autograder.make_record import hand_in

DUE = "due: {'02': '2026-03-01T23:59:00+00:00'}\n"
FILES = {
    "overrides": "student,lesson,points,reason\n{},02,7,talked\n",
    "extensions": "student,lesson,days\n{},02,3\n",
}
STRANGER = "there is no student davd in this class (did you mean david?)"


@pytest.fixture
def one_row(tmp_path, grade):
    """Return a function that grades a class with one row for a student.

    The class has ada and david, unless another one is named.
    """
    for student in ("ada", "david"):
        hand_in(tmp_path / "class" / student / "02", answers={})

    def run(student, *words, file="overrides", of=""):
        path = tmp_path / f"{file}.csv"
        path.write_text(FILES[file].format(student))
        files = (*setting(file, path), *late_rules(tmp_path, DUE))
        return grade(tmp_path / (of or "class"), *files, *words)

    return run


@pytest.mark.parametrize("file", FILES)
def test_a_row_on_nobody_in_the_class_grades_nobody(one_row, file):
    result = one_row("davd", file=file)
    assert result.exit_code == 2
    assert f"{file}.csv:2: {STRANGER}" in result.stderr
    assert not result.folder.exists()
    assert one_row("david", file=file).exit_code < 2


def test_names_that_differ_in_case_are_two_students(one_row, tmp_path):
    hand_in(tmp_path / "class" / "Ada" / "02", answers={})
    assert one_row("ada").exit_code < 2
    assert one_row("Ada").exit_code < 2


def test_who_is_on_the_roster_is_in_the_class(one_row, tmp_path):
    roster = tmp_path / "roster.csv"
    roster.write_text("student\nada\nDAVE\n")
    assert one_row("DAVE", "--roster", roster).exit_code < 2
    grades = one_row("DAVE", "--roster", roster).folder / "grades.csv"
    looks = {row["student"]: row["look"] for row in csv.DictReader(grades.open())}
    assert "not in the roster" in looks["david"]
    assert "roster" not in looks["ada"]
    assert one_row("dave", "--roster", roster).exit_code < 2  # any form that the roster resolves
    refused = one_row("dav", "--roster", roster)
    assert "no student dav in this class (did you mean DAVE?)" in refused.stderr
    assert "no student zoe in this class. Correct the name, or" in one_row("zoe").stderr


@pytest.mark.parametrize(
    ("student", "roster", "warned"),
    [("davd", "", True), ("ada", "", True), ("ada", "ada", False), ("david", "", False)],
)
def test_one_student_alone_is_graded_whoever_the_rows_are_on(
    one_row, tmp_path, student, roster, warned
):
    (tmp_path / "roster.csv").write_text(f"student\n{roster}\n")
    words = ("--roster", tmp_path / "roster.csv") if roster else ()
    hand_in(tmp_path / "one" / "david" / "02", answers={})
    result = one_row(student, *words, of="one")
    assert result.exit_code < 2
    assert ("Warning: " in result.stderr) == warned
    assert (STRANGER in result.stderr) == (student == "davd")
