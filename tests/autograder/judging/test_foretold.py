"""Intervals for a value that is not known yet: honest and useful."""

import pytest

from autograder.judging.hand_in import HandIn
from autograder.judging.judge_answers import judge_answer
from autograder.records import Where
from autograder.settings.rubric_schema import Rubric
from autograder.submissions.answers import WrittenAnswer

KEY = "foretold_x"
CHECK = {"id": "a", "title": "t", "points": 1, "answers": [KEY]}
QUESTION = {"ask": "?", "kind": "interval", "widest": 1.5}
ABOUT = {"lesson": "12", "title": "t", "points": 1}
RUBRIC = Rubric.model_validate(ABOUT | {"checks": [CHECK], "answers": {KEY: QUESTION}})

# The answer for a true value of 100, its credit, and words of the reason.
INTERVALS = {
    "90 to 120": (1, ""),
    "100 to 100": (1, ""),
    "100 to 150": (1, ""),
    "120 to 150": (0, "below it"),
    "60 to 80": (0, "above it"),
    "50 to 200": (0, "4 times"),
    "95 to 110; 2026": (0, "95 to 110; 2026"),
    "100": (0, "100"),
    "110 to 95": (0, "110 to 95"),
    "-5 to 110": (0, "-5 to 110"),
    "about 100": (0, "about 100"),
    "": (0, "no answer"),
}


@pytest.mark.parametrize("text", INTERVALS)
def test_an_interval_holds_the_truth_and_is_no_wider_than_asked(text):
    answers = {KEY: WrittenAnswer(text, Where("answers.txt", 1))}
    part = judge_answer(HandIn(RUBRIC, [], answers, "smoke", {KEY: 100.0}), KEY)
    credit, words = INTERVALS[text]
    assert part.credit == credit
    assert words in part.actual
    assert "100.0" not in part.expected + part.actual, "the truth is not told"


@pytest.mark.parametrize(
    "changes", [{"widest": None}, {"widest": 1.0}, {"kind": "number", "widest": 1.5}]
)
def test_a_wrong_question_is_refused(changes):
    with pytest.raises(ValueError, match="widest"):
        type(RUBRIC.answers[KEY]).model_validate(QUESTION | changes)
