"""A student's page made from records, without grading: what it shows and what it keeps private."""

import re

import pytest

from autograder.classroom.adjust import apply
from autograder.codes import FindingCode
from autograder.notes import make_note
from autograder.report import gradescope
from autograder.report.moodle import comment
from autograder.report.packed import summary
from autograder.report.rendering import notice
from autograder.report.student.next_steps import next_steps
from autograder.report.student.page import Absent, not_handed_in, student_page
from autograder.safe_text import printable
from autograder.settings.class_file import LatePolicy
from autograder.settings.policy import Override, Policy
from autograder.verdict import NO_LESSON, Check, Grade

LOST = Check("speed", "It is fast", 2, 0, "failed", "≥ 1.5", "1.1", advice="ask for two ranks")


def graded(*checks, lesson="02", **more):
    most = sum(check.points for check in checks)
    score = sum(check.score for check in checks)
    facts = {"status": "graded", "score": score, "max_score": most, "checks": checks}
    return Grade("ada", lesson, "Title", "smoke", **(facts | more))


def text_of(page):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page.partition("<body>")[2])).strip()


def page_of(*grades, name="Ada", **more):
    return text_of(student_page(name, grades, **more))


def changed(grade, check, points, reason="seen in the log"):
    overrides = {("ada", "02"): (Override(points, reason, check),)}
    return apply([grade], Policy(overrides=overrides), "ada")[0]


@pytest.mark.parametrize(
    ("before", "given", "status"), [(0.0, 2.0, "passed"), (2.0, 1.0, "partial")]
)
def test_what_the_instructor_settled_is_said_with_its_check_and_is_nothing_to_do(
    before, given, status
):
    check = Check("speed", "It is fast", 2, before, "failed", "≥ 1.5", "no run can be read",
                  advice="hand in the job's file")  # fmt: skip
    grade = changed(graded(check), "speed", given)
    text = page_of(grade)
    assert grade.checks[0].status == status
    assert text.count("by the instructor: seen in the log") == 1
    assert next_steps([grade]) == []
    assert "What to do next" not in text
    if status == "passed":
        assert "no run can be read" not in text


def test_of_a_lesson_that_the_instructor_settled_nothing_is_to_do():
    other = graded(Check("params", "So many parameters", 2, 0, "failed", "5", "4", advice="count"))
    grade = changed(graded(LOST), "", 0.5)
    assert next_steps([graded(LOST), other]) != next_steps([other])
    assert next_steps([grade, other]) == next_steps([other])
    assert "What to do next" not in page_of(grade)
    assert "next" not in summary(grade)
    assert "0.5 points by the instructor: seen in the log" in page_of(grade)


def test_an_override_of_a_check_that_was_not_judged_is_for_the_instructor():
    grade = changed(graded(status="missing"), "secret", 1.0)
    [line] = grade.unused_overrides
    assert line in notice(grade)
    for text in (page_of(grade), summary(grade), comment(grade), gradescope.document([grade])):
        assert "secret" not in text
        assert "seen in the log" not in text


def test_what_is_for_the_instructor_is_not_told_to_the_student():
    finding = make_note(FindingCode.MARKED_LATE, advice="give it in the manifest")
    text = page_of(graded(LOST, findings=(finding,)))
    assert "in the manifest" not in text
    assert "your instructor will look at this" in text
    done = Check("a", "A", 1, 1, "passed", "", "fine")
    assert "nothing left to do" in page_of(graded(done, findings=(finding,)))


NOT_GRADED = [
    (NO_LESSON, "", 0, "missing", "(No gradable files were found)"),
    ("?", "", 0, "no rubric", "(No gradable files were found)"),
    ("02", "Title", 10, "missing", "(10 points: 02, Title)"),
]


@pytest.mark.parametrize(("lesson", "title", "most", "status", "why"), NOT_GRADED)
def test_what_could_not_be_graded_says_what_to_do(lesson, title, most, status, why):
    finding = make_note(FindingCode.NOTHING_FOUND, advice="hand in the outputs")
    grade = Grade("ada", lesson, title, "smoke", status, None, most, findings=(finding,))
    text = page_of(grade)
    assert f"What to do next Hand in the outputs {why}" in text
    assert ("could be graded yet" in text) == (most == 0)
    assert "– /" not in text.replace("– / 10", "")


def test_outputs_of_another_lesson_come_first_if_they_may_be_why_nothing_was_measured():
    missing = [
        Check(name, name, 2, 0, "not measured", "x", "no run", advice=f"run {name}")
        for name in "ab"
    ]
    stray = make_note(FindingCode.OTHER_LESSON, advice="one folder each")
    do, reason = next_steps([graded(*missing, findings=(stray,))])[0]
    assert (do, reason[:8]) == ("One folder each", "4 points")
    assert next_steps([graded(LOST, findings=(stray,))])[0][0] == "Ask for two ranks"


def test_lessons_that_are_not_there_are_named_with_their_times():
    due = {name: f"2026-03-0{at}T12:00:00+00:00" for at, name in enumerate(("01", "02", "03"), 1)}
    policy = Policy(
        LatePolicy(due=due | {"07": "2026-03-09T12:00:00+00:00"}),
        extensions={("ada", "03"): (2.0, "ill")},
        overrides={("ada", "07"): (Override(None, "ill"),), ("ben", "01"): (Override(1, "x"),)},
    )
    absent = not_handed_in("ada", [graded(LOST)], policy, {"05": 10.0, "07": 10.0})
    assert absent == [
        Absent("01", "2026-03-01 12:00 UTC"),
        Absent("03", "2026-03-05 12:00 UTC"),
        Absent("05", "", 10.0),
    ]
    times = ("01 (due 2026-03-01 12:00 UTC) ", "03 (due 2026-03-05 12:00 UTC) ", "05")
    page = page_of(graded(LOST), absent=absent)
    assert f"Not submitted so far: {', '.join(times)}." in page
    assert "in 2 lessons" in page  # 01 and 03 do not count, because nobody submitted them
    everything = Check("a", "A", 1, 1, "passed", "x", "y")
    assert "nothing left to do" not in page_of(graded(everything), absent=absent)
    assert not_handed_in("ada", [graded(LOST)], Policy(), {}) == []


NAMES = ["علی\u200cرضا", "क्\u200dष", "Zoë 👩\u200d💻", "محمد", "Ada"]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_spelt_as_its_owner_spells_it(name):
    assert printable(name) == name
    assert f"<bdi>{name}</bdi>" in student_page(printable(name), [graded(LOST)])


@pytest.mark.parametrize("name", ["a\u200db", "\u200dada", "x\u202ey", "é\u202eé", "\u200d\u200d"])
def test_a_name_hides_nothing(name):
    assert printable(name).isascii() or "é" in name
    assert printable(name).isprintable()
