"""Checks that are graded by hand, and the headings of report.md that they ask for."""

import pytest

from autograder.codes import ReasonCode
from autograder.judging import judge
from autograder.judging.hand_in import HandIn
from autograder.settings.rubric_schema import Rubric
from autograder.submissions.texts import parse_report
from autograder.verdict import FAILED, PARTIAL, PASSED, WAITS

HEADINGS = ["Question", "What is not known"]
REPORT = "# A study\n## Question\nWhy?\n## What is not known\nMuch.\n"


def rubric(**check):
    return Rubric.model_validate(
        {"lesson": "12", "title": "t", "points": 2, "checks": [{"id": "a", "title": "t"} | check]}
    )


def judged(text, **check):
    report = None if text is None else parse_report(text, "report.md")
    return judge.judge(HandIn(rubric(**check), [], {}, "smoke", report=report))


def test_points_by_hand_wait_and_are_not_in_the_total():
    for check in ({"by_hand": 2}, {"by_hand": 2, "report": HEADINGS}):
        found = judged(REPORT, **check)
        assert found.checks[0].status == WAITS
        assert (found.score, found.max_score, found.waiting) == (0, 0, 2)


@pytest.mark.parametrize(("old", "new"), [("## Question", "## Questions"), ("Why?", "\n")])
def test_a_heading_that_is_missing_or_empty_is_named(old, new):
    text = REPORT.replace(old, new)
    [check] = judged(text, by_hand=2, report=HEADINGS).checks
    [lost] = [part for part in check.parts if part.credit < 1]
    found = (check.status, lost.code, "Question" in lost.name)
    assert found == (WAITS, ReasonCode.NO_REPORT, True)
    [counted] = judged(text, points=2, report=HEADINGS).checks
    assert (counted.status, counted.score) == (PARTIAL, 1)


def test_without_a_report_there_is_nothing_to_wait_for():
    for check in ({"by_hand": 2}, {"points": 2}):
        found = judged(None, report=HEADINGS, **check)
        assert (found.checks[0].status, found.max_score) == (FAILED, 2)
        assert {part.code for part in found.checks[0].parts} == {ReasonCode.NO_REPORT}


def test_all_headings_earn_the_points_that_are_not_given_by_hand():
    [check] = judged(REPORT, points=2, report=HEADINGS).checks
    assert (check.status, check.score) == (PASSED, 2)


@pytest.mark.parametrize(
    "check",
    [{"by_hand": 2, "points": 2}, {"by_hand": 2, "answers": ["a"]}, {"points": 2}, {"by_hand": -1}],
)
def test_a_wrong_check_is_refused(check):
    with pytest.raises(ValueError, match=r"by_hand|points"):
        rubric(**check)
