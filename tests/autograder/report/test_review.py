"""The instructor goes from one student to the next; students' own pages name nobody else."""

import json
import re

import pytest

from tests.autograder.make_record import make_record, write_lines

ROSTER = ["student,name", "ada,Ada", "ben,Ben </script>", "eva,Eva"]


@pytest.fixture
def graded(tmp_path, grade):
    for student, run in (("ada", "a" * 8), ("ben", "b" * 8)):
        write_lines(tmp_path / "class" / student / "02" / "a.out", make_record(run=run))
    write_lines(tmp_path / "roster.csv", ROSTER)
    return grade(tmp_path / "class", "--roster", tmp_path / "roster.csv")


def page_of(result, student):
    return (result.folder / "students" / f"{student}.html").read_text()


def test_no_students_page_leads_to_another(graded):
    for student in ("ada", "ben", "eva"):
        page = page_of(graded, student)
        others = {"Ada", "Ben", "Eva"} - {student.capitalize()}
        assert not [name for name in others if re.search(rf"\b{name}\b", page)]
        assert "review" not in page
        assert "<script" not in page


def test_a_student_who_submitted_nothing_has_a_page_and_an_empty_record(graded):
    assert 'class="next"' in page_of(graded, "eva")
    record = json.loads((graded.folder / "records" / "eva.json").read_text())
    assert record["grades"] == []
    rows = json.loads((graded.folder / "grades.json").read_text())["grades"]
    assert {row["page"] for row in rows if row["student"] == "eva"} == {"eva.html"}


def test_the_page_goes_when_something_is_submitted(graded, tmp_path, grade):
    write_lines(tmp_path / "class" / "eva" / "02" / "a.out", make_record(run="c" * 8))
    again = grade(tmp_path / "class", "--roster", tmp_path / "roster.csv")
    assert 'id="lesson-1"' in page_of(again, "eva")
