"""Lesson 07's points for speed: what the record of a speed job needs to earn them."""

import pytest

from autograder.judging.conditions import RUN_AGAIN
from autograder.judging.hand_in import HandIn
from autograder.judging.judge import judge
from autograder.settings import rubric
from autograder.verdict import BORDERLINE, FAILED, NOT_MEASURED, PARTIAL, PASSED
from tests.autograder.in_memory import read_bytes
from tests.autograder.make_record import make_record, some_rounds

ASKED = rubric.load_rubric(rubric.FOLDER / "07.yaml")


def rounds_of(share: float, *jitter: float, ceiling: float = 1.9, **more: object) -> tuple:
    """Return rounds on two ranks; by default their steps agree with those measured by hand."""
    error = more.pop("error", 0.0)
    shares = [share + by for by in ((jitter or (0.0, 0.01, -0.01)) * 4)[:12]]
    seconds = [
        (0.4 + n / 100, (0.8 + n / 50) / ceiling, (0.8 + n / 50) / ceiling / s)
        for n, s in enumerate(shares)
    ]
    steps = {"name": "update_error", "value": error, "unit": "", "steps": 3}
    return (steps, *some_rounds(*seconds, **more))


def judged(measures, **more):
    facts = {"model": "resnet20", "params": 273658, "size": 2} | more
    lines = make_record(lesson="07", source="speed", seconds=(), measures=measures, **facts)
    runs = read_bytes({"a.out": "\n".join(lines).encode()})
    found = judge(HandIn(ASKED, runs, {}, "smoke"))
    [check] = [check for check in found.checks if check.id == "speed"]
    return check


RIGHT = rounds_of(0.93)
# Measures, facts of the header, points, status, words of the reason.
CASES = {
    "right": (RIGHT, {}, 3, PASSED, ""),
    "a machine whose ceiling is 1": (rounds_of(0.93, ceiling=1.0), {}, 3, PASSED, ""),
    "noise around the threshold": (rounds_of(0.75, -0.2, 0.0, 0.2), {}, 3, BORDERLINE, ""),
    "half of what is asked for": (rounds_of(0.565), {}, 1.5, PARTIAL, "share of the ceiling"),
    "a rank would be as fast alone": (rounds_of(0.35), {}, 0, FAILED, "share of the ceiling"),
    "averaged in the steps that are compared alone": (
        rounds_of(1.0, spread=0.01), {}, 0, FAILED, "difference in a parameter",
    ),
    "the mean of other numbers than the gradients": (
        rounds_of(0.93, error=0.9), {}, 0, FAILED, "error of the parameter update",
    ),
    "a batch that hides the exchange": (RIGHT, {"batch": 192}, 0, FAILED, "batch size"),
    "a rate of 0": (rounds_of(0.93, error=1.0, moved=0.0), {}, 0, FAILED, "smallest change"),
    "two rounds": (RIGHT[:3], {}, 0, NOT_MEASURED, "of at least 3"),
    "too few to tell": (rounds_of(0.93)[:9], {}, 0, FAILED, "rounds measured: 8"),
    "one rank": (RIGHT, {"size": 1}, 0, NOT_MEASURED, "a single rank"),
    "a smaller network": (RIGHT, {"params": 1000}, 0, FAILED, "parameters"),
    "nothing compared": (RIGHT[1:], {}, 0, NOT_MEASURED, "update_error"),
    "diverged": (rounds_of(0.93, spread="nan"), {}, 0, NOT_MEASURED, "`spread`"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("measures", "facts", "score", "status", "words"), CASES.values(), ids=CASES
)
def test_points_for_speed(measures, facts, score, status, words):
    check = judged(measures, **facts)
    assert (check.score, check.status) == (pytest.approx(score, abs=0.1), status)
    assert words in check.actual
    assert bool(check.told) == (score > 0)
    assert check.advice or score == 3


DISTURBED = (0.3, 0.3, 0.3, *[0.01 * n for n in range(-4, 5)])  # three of twelve rounds
NOISE = {
    "a median above, an interval below": (rounds_of(0.8, -0.2, 0.0, 0.2), 3, BORDERLINE, "value"),
    "rounds disturbed until the interval reaches it": (
        rounds_of(0.6, *DISTURBED), 1.8, PARTIAL, "value"),
    "no points and all points are possible": (
        rounds_of(0.6, -0.25, 0.0, 0.25), 0, NOT_MEASURED, "too noisy"),
    "a busy machine": (rounds_of(0.93, ceiling=0.85), 0, NOT_MEASURED, "too noisy"),
    "a busy machine and noise": (
        rounds_of(0.6, -0.25, 0.0, 0.25, ceiling=0.85), 0, NOT_MEASURED, "too noisy"),
}  # fmt: skip


@pytest.mark.parametrize(("measures", "score", "status", "code"), NOISE.values(), ids=NOISE)
def test_noise_does_not_pay(measures, score, status, code):
    """Points follow the median, and what is too noisy has to be run again."""
    check = judged(measures)
    assert (check.score, check.status) == (pytest.approx(score, abs=0.1), status)
    (worst,) = {part.code for part in check.parts if part.status == status}
    assert worst == code
    asked_again = any(part.advice == RUN_AGAIN for part in check.parts)
    assert asked_again == (status in (PARTIAL, NOT_MEASURED))


def test_points_grow_with_the_share():
    scores = [judged(rounds_of(share / 100)).score for share in range(35, 90, 5)]
    assert scores == sorted(scores)
    assert scores[0] == 0
    assert scores[-1] == 3
    assert len(set(scores)) >= 5
