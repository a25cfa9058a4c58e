"""The public checks 12.6 to 12.8: time to an accuracy, cost, and the recommendation."""

import pytest
from advice import assert_advice, failure

from lessons.toolkit.checks import lesson_12 as check


def time_to(target, accuracies, seconds, held=1, count=1):
    for i in range(len(accuracies) - held):
        if min(accuracies[i : i + 1 + held]) >= target:
            return sum(seconds[: i + count])
    return None


TIMES = [
    (lambda t, a, s: time_to(t, a, s, count=0), "counts, too"),
    (lambda t, a, s: time_to(t, a, s, held=0), "0.81 was luck"),
    (lambda t, a, s: sum(s), "not at the end"),
]


def first_time(target, accuracies, seconds):
    """Return whether the first time held, and ignore later ones."""
    for i in range(4):
        if accuracies[i] >= target:
            return sum(seconds[: i + 1]) if accuracies[i + 1] >= target else None
    return None


def never_lower(target, accuracies, seconds):
    for i in range(4):
        if accuracies[i] >= target and accuracies[i + 1] >= accuracies[i]:
            return sum(seconds[: i + 1])
    return None


def test_right_time():
    check.check_12_6(time_to)


@pytest.mark.parametrize(("function", "words"), TIMES)
def test_wrong_times(function, words):
    assert_advice(failure(check.check_12_6, function), words)


def cost(line, devices=True, days=True, scale=3.6e6, none=None, kilo=1e3, giga=1e9):
    _, elapsed, allocated, energy = line.split("|")
    before, _, clock = elapsed.rpartition("-")
    hours, minutes, seconds = map(int, clock.split(":"))
    gpus = int(dict(part.split("=") for part in allocated.split(",")).get("gres/gpu", 0))
    total = 24 * int(before or 0) * days + hours + minutes / 60 + seconds / 3600
    factor = {"K": kilo, "M": 1e6, "G": giga}.get(energy[-1:], 1)
    kwh = float(energy.rstrip("KMG")) * factor / scale if energy else none
    return total * (gpus if devices or not gpus else 1), kwh


COSTS = [
    (lambda line: cost(line, devices=False), "Multiply by the GPUs"),
    (lambda line: cost(line, days=False), "a day and two hours"),
    (
        lambda line: (cost(line)[0] * (2 if "node=2" in line else 1), cost(line)[1]),
        "of the whole job, on all of its nodes",
    ),
]


def sweet_spot(sizes, seconds):
    return min(zip(sizes, seconds, strict=True), key=lambda pair: pair[0] * pair[1] ** 2)[0]


def test_right_cost():
    check.check_12_7(cost, sweet_spot)


@pytest.mark.parametrize(("function", "words"), COSTS)
def test_wrong_costs(function, words):
    assert_advice(failure(check.check_12_7, function, sweet_spot), words)


SPOTS = [
    (lambda sizes, seconds: sizes.index(sweet_spot(sizes, seconds)), "not its place"),
    (lambda sizes, seconds: min(sizes, key=lambda p: p * seconds[sizes.index(p)]), "lowest cost"),
    (lambda sizes, seconds: sizes[seconds.index(min(seconds))], "fastest"),
]


@pytest.mark.parametrize(("function", "words"), SPOTS)
def test_wrong_sweet_spots(function, words):
    assert_advice(failure(check.check_12_7, cost, function), words)


WORDS = "these are some words of mine, which say what I found on these 2 cores and why it matters"


def test_three_parts_in_own_words():
    check.check_12_8(WORDS, f"{WORDS} today", f"{WORDS} tomorrow")


@pytest.mark.parametrize(
    ("texts", "words"),
    [((WORDS, "", WORDS), "how many ranks to ask for"),
     (("Is it?", WORDS, WORDS), "what you wanted to know"),
     ((WORDS, WORDS, "Much."), "cannot tell"),
     ((WORDS, WORDS.upper(), f"{WORDS} today"), "answers a different question"),
     ((WORDS, 2, WORDS), "is a text")],
)  # fmt: skip
def test_a_part_that_says_nothing(texts, words):
    assert_advice(failure(check.check_12_8, *texts), words)
