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


def test_every_student_is_on_the_review_page_in_the_class_pages_order(graded):
    page = (graded.folder / "review.html").read_text()
    data = re.search(r'id="students">(.*?)</script>', page)[1]
    students = [name for _, name in json.loads(data)]
    assert sorted(students) == ["ada.html", "ben.html", "eva.html"]
    index = (graded.folder / "index.html").read_text()
    assert re.findall(r'href="review.html#([^"]*)"', index) == students


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


@pytest.mark.browser
def test_the_next_student_is_one_click_away(graded, browser):
    page = browser.new_page()
    page.goto((graded.folder / "review.html").as_uri() + "#ben.html")
    order = [page.locator("#name").inner_text()]
    while page.locator("#before").is_visible():
        page.click("#before")
        order.append(page.locator("#name").inner_text())
    name, _, _ = order[-1].partition(" (")
    page.frame_locator("#page").locator("h1", has_text=name).wait_for()
    assert len(set(order)) == len(order)
    page.close()
