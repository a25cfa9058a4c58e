"""A page per lesson shows each check across all students, and the class's mean."""

import re

from autograder.classroom.class_settings import ClassSettings
from autograder.codes import CheckStatus, EvidenceLevel, FindingCode, GradeStatus
from autograder.notes import make_note
from autograder.report.class_page import class_pages, summary
from autograder.settings.rubric_schema import Rubric
from autograder.verdict import Check, Grade

CONTRADICTED = (make_note(FindingCode.CHAIN_BROKEN),)


def row(student, score, states="", look=()):
    status = GradeStatus.MISSING if score is None else GradeStatus.GRADED
    named = zip("ab", states.split(","), strict=True) if states else ()
    checks = tuple(Check(id_, "", 5.0, 0.0, CheckStatus(state), "", "") for id_, state in named)
    return Grade(student, "02", "Title", "full", status, score, 10.0, findings=look,
                 tier=EvidenceLevel.SELF_CONSISTENT, checks=checks)  # fmt: skip


ROWS = [
    row("ada", 10.0, "passed,passed"),
    row("ben", 0.0, "failed,not measured"),
    row("cyd", 10.0, "passed,borderline"),
    row("dan", 5.0, "passed,failed", CONTRADICTED),
    row("eva", None),
]
CHECKS = [{"id": id_, "title": title, "by_hand": 5} for id_, title in (("a", "A"), ("b", "B"))]
RUBRIC = Rubric(lesson="02", title="Title", points=10, checks=CHECKS)
SETTINGS = ClassSettings({"02": RUBRIC}, {})


def page():
    pages = class_pages(ROWS, {}, SETTINGS)
    assert pages.keys() == {"index.html", "lessons/02.html"}
    return pages["lessons/02.html"]


def test_students_and_checks_are_sorted_by_severity():
    lines = re.findall(r"<tr><th scope=.row.*?</tr>", page())
    order = [re.search(r"ada|ben|cyd|dan|eva", line)[0] for line in lines]
    assert order == ["ben", "dan", "cyd", "eva", "ada"]
    keys = [re.findall(r'data-l="(.)" data-k="(\d)"', line) for line in lines]
    assert keys[0] == [("a", "0"), ("b", "1")]
    assert keys[4] == [("a", "5"), ("b", "5")]
    assert keys[3] == []  # nothing was submitted
    assert page().count('href="../students/') == 5
    assert 'href="lessons/02.html"' in class_pages(ROWS, {}, SETTINGS)["index.html"]


def test_the_mean_is_that_of_graded_submissions():
    rows = [row(str(n), score) for n, score in enumerate([10.0, 0.0, None, 10.0, 5.0])]
    assert re.findall(r"[\d.]+", summary(rows)) == ["6.25", "7.5", "10"]
    assert summary([row("ada", None)]) == ""
