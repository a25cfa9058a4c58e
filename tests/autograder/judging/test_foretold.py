"""Intervals written down before the true value was shown: honest, useful and unchanged."""

import pytest

from autograder.judging.hand_in import HandIn
from autograder.judging.judge_answers import judge_answer
from autograder.records import Where
from autograder.settings.rubric_schema import Rubric
from autograder.submissions import foretold
from autograder.submissions.answers import WrittenAnswer

KEY, WHEN = "foretold_x", "2026-03-02T10:11:05Z"
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


def written(low, high):
    return foretold.written(KEY, low, high, WHEN)


@pytest.mark.parametrize(("low", "high"), [(90, 120), (100, 100), (80, 120), (100, 150)])
def test_it_holds_the_truth_and_is_no_wider_than_asked(low, high):
    assert judged(written(low, high)).credit == 1


SEALED = written(120, 150)
WRONG = {
    "too high": (SEALED, "below it"),
    "too low": (written(60, 80), "above it"),
    "too wide": (written(50, 200), "4 times"),
    "changed by hand": (SEALED.replace("120 to", "95 to"), "function writes"),
    "dated back": (SEALED.replace("03-02", "03-01"), "function writes"),
    "no seal": ("95 to 110", "function writes"),
    "of another table": (foretold.written("foretold_y", 95, 110, WHEN), "function writes"),
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
    assert words in part.found
    assert "100.0" not in part.expected + part.found, "the truth is not told"


def test_no_answer_is_asked_for():
    part = judge_answer(HandIn(RUBRIC, [], {}, None, "smoke", {KEY: 100.0}), KEY)
    assert part.credit == 0


@pytest.mark.parametrize(
    "changes", [{"widest": None}, {"widest": 1.0}, {"kind": "number", "widest": 1.5}]
)
def test_a_wrong_question_is_refused(changes):
    with pytest.raises(ValueError, match="widest"):
        type(RUBRIC.answers[KEY]).model_validate(QUESTION | changes)
