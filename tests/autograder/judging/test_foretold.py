"""Intervals for a value that is not known yet: honest and useful."""

import pytest

from autograder.judging.hand_in import HandIn
from autograder.judging.judge_answers import judge_answer
from autograder.records import Where
from autograder.settings.rubric_schema import Rubric
from autograder.submissions.answers import WrittenAnswer

KEY = "foretold_x"
QUESTION = {"ask": "?", "kind": "interval", "widest": 1.5}
RUBRIC = Rubric.model_validate(
    {
        "lesson": "12",
        "title": "t",
        "points": 1,
        "checks": [{"id": "a", "title": "t", "points": 1, "answers": [KEY]}],
        "answers": {KEY: QUESTION},
    }
)


def judged(text):
    answers = {KEY: WrittenAnswer(text, Where("answers.txt", 1))}
    return judge_answer(HandIn(RUBRIC, [], answers, "a", "smoke", {KEY: 100.0}), KEY)


@pytest.mark.parametrize(("low", "high"), [(90, 120), (100, 100), (80, 120), (100, 150)])
def test_it_holds_the_truth_and_is_no_wider_than_asked(low, high):
    assert judged(f"{low} to {high}").credit == 1


WRONG = {
    "too high": ("120 to 150", "below it"),
    "too low": ("60 to 80", "above it"),
    "too wide": ("50 to 200", "4 times"),
    "more than an interval": ("95 to 110; 2026", "95 to 110; 2026"),
    "one number": ("100", "100"),
    "the other way round": ("110 to 95", "110 to 95"),
    "below zero": ("-5 to 110", "-5 to 110"),
    "words": ("about 100", "about 100"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_earns_nothing_and_why(name):
    text, words = WRONG[name]
    part = judged(text)
    assert part.credit == 0
    assert words in part.actual
    assert "100.0" not in part.expected + part.actual, "the truth is not told"


def test_no_answer_is_asked_for():
    part = judge_answer(HandIn(RUBRIC, [], {}, None, "smoke", {KEY: 100.0}), KEY)
    assert part.credit == 0


@pytest.mark.parametrize(
    "changes", [{"widest": None}, {"widest": 1.0}, {"kind": "number", "widest": 1.5}]
)
def test_a_wrong_question_is_refused(changes):
    with pytest.raises(ValueError, match="widest"):
        type(RUBRIC.answers[KEY]).model_validate(QUESTION | changes)
