"""Rows of overrides and extensions name students of the class, or nothing is graded."""

import shutil

import pytest

from tests.autograder.class_yaml import late_rules, setting
from tests.autograder.make_record import hand_in

DUE = "due: {'02': '2026-03-01T23:59:00+00:00'}\n"
FILES = {
    "overrides": "student,lesson,points,reason\n{},02,7,talked\n",
    "extensions": "student,lesson,days\n{},02,3\n",
}
STRANGER = "there is no student davd in this class"


@pytest.fixture
def one_row(tmp_path, grade):
    """Return a function that grades a class of ada and david with one row for a student."""
    for student in ("ada", "david"):
        hand_in(tmp_path / "class" / student / "02", answers={})

    def run(student, *words, file="overrides"):
        path = tmp_path / f"{file}.csv"
        path.write_text(FILES[file].format(student))
        return grade(tmp_path / "class", *setting(file, path), *late_rules(tmp_path, DUE), *words)

    return run


@pytest.mark.parametrize("file", FILES)
def test_a_row_on_nobody_in_the_class_grades_nobody(one_row, file):
    result = one_row("davd", file=file)
    assert result.exit_code == 2
    assert f"{file}.csv:2: {STRANGER}" in result.stderr
    assert not result.folder.exists()
    assert one_row("david", file=file).exit_code < 2


def test_who_is_on_the_roster_is_in_the_class(one_row, tmp_path):
    roster = tmp_path / "roster.csv"
    roster.write_text("student\nada\nDAVE\n")
    assert one_row("DAVE", "--roster", roster).exit_code < 2
    assert one_row("dave", "--roster", roster).exit_code < 2  # any form that the roster resolves
    refused = one_row("dav", "--roster", roster)
    assert "no student dav in this class" in refused.stderr
    assert "no student zoe in this class. Correct the name, or" in one_row("zoe").stderr


@pytest.mark.parametrize("file", ["overrides", "manifest"])
def test_a_full_name_is_accepted_if_only_one_student_has_it(one_row, tmp_path, file):
    """Tables and the manifest follow the same rule; a shared name is refused with its row."""
    roster, manifest = tmp_path / "roster.csv", tmp_path / "class/manifest.csv"

    def named(name):
        if file == "manifest":
            manifest.write_text(f"folder,students,lesson\ndavid/02,{name},02\n")
            return one_row("ada", "--roster", roster)
        return one_row(name, "--roster", roster)

    roster.write_text("student,name\nada,Ada King\ndavid,Anna Schmidt\nzoe,Zoë Lee\n")
    done = named("Anna Schmidt")
    assert done.exit_code < 2
    assert {line[0] for line in done.table} == {"ada", "david", "zoe"}
    roster.write_text("student,name\nada,Ada King\ndavid,Anna Schmidt\nzoe,Anna Schmidt\n")
    refused = named("Anna Schmidt")
    assert refused.exit_code == 2
    assert {"overrides": "overrides.csv:2", "manifest": "david/02"}[file] in refused.stderr
    assert "david or zoe" in refused.stderr


def test_names_that_differ_in_case_are_two_students(one_row, tmp_path):
    hand_in(tmp_path / "class" / "Ada" / "02", answers={})
    rows = one_row("Ada").table
    assert [row[0] for row in rows if row[2] == "7/10"] == ["Ada"]


def test_one_student_alone_is_graded_whoever_the_rows_are_on(one_row, tmp_path):
    shutil.rmtree(tmp_path / "class" / "ada")
    result = one_row("ada")  # as on Gradescope, where the rest of the class is unknown
    assert (result.exit_code < 2, "Warning: " in result.stderr) == (True, True)
