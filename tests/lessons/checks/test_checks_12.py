"""The public checks of lesson 12: right solutions pass, each usual mistake gets its advice."""

from types import SimpleNamespace

import numpy as np
import pytest
from advice import assert_advice, failure

from lessons.toolkit import foretelling
from lessons.toolkit.checks import lesson_12 as check

# --- 12.1 -----------------------------------------------------------------------------------


def planned(strong=None, epoch=None, weak=None, of=lambda pairs: pairs):
    """Return a program with wrong plans for these kinds: functions of size, batch and samples."""
    kinds = {
        "strong": strong or (lambda p, b, n: (b // p, n)),
        "epoch": epoch or (lambda p, b, n: (b, n)),
        "weak": weak or (lambda p, b, n: (b, n * p)),
    }
    return SimpleNamespace(plan=lambda m, sizes, b, n: of([kinds[m](p, b, n) for p in sizes]))


PLANS = {
    "kept": (planned(strong=lambda p, b, n: (b, n)), "That is epoch scaling"),
    "both": (planned(strong=lambda p, b, n: (b // p, n // p)), "do not depend"),
    "floats": (planned(strong=lambda p, b, n: (b / p, n)), "Divide with `//`"),
    "rounded": (planned(strong=lambda p, b, n: (round(b / p), n)), "64 // 5 = 12"),
    "share": (planned(epoch=lambda p, b, n: (b, n // p)), "of all ranks together"),
    "same": (planned(weak=lambda p, b, n: (b, n)), "That is epoch scaling"),
    "exchanged": (planned(weak=lambda p, b, n: (n * p, b)), "wrong way round"),
    "nothing": (planned(of=lambda pairs: None), "does the function return its result"),
}


def test_right_plan(capsys):
    check.check_12_1(planned())
    assert "Exercise 12.1: right" in capsys.readouterr().out


@pytest.mark.parametrize("name", PLANS)
def test_wrong_plans(name):
    program, words = PLANS[name]
    assert_advice(failure(check.check_12_1, program), words)


def test_sizes_are_not_places_in_the_list():
    by_place = SimpleNamespace(
        plan=lambda m, sizes, b, n: [planned().plan(m, [2**i], b, n)[0] for i in range(len(sizes))]
    )
    assert_advice(failure(check.check_12_1, by_place), "not their places in it")


# --- 12.2 to 12.4 ---------------------------------------------------------------------------


def karp_flatt(gain, p):
    return (1 / gain - 1 / p) / (1 - 1 / p)


def efficiency(kind, p, step, exchange):
    work = step / p if kind == "strong" else step
    return work / (work + exchange)


LOST = [
    (lambda k, p, step, exchange: step / (step + exchange), "How many images"),
    (lambda k, p, step, exchange: step / p / (step / p + exchange), "How many images"),
    (lambda k, p, step, exchange: p * efficiency(k, p, step, exchange), "the speedup"),
]


def test_right_efficiency():
    check.check_12_2(efficiency)


@pytest.mark.parametrize(("wrong", "words"), LOST)
def test_wrong_efficiency(wrong, words):
    assert_advice(failure(check.check_12_2, wrong), words)


def slope(x, y):
    return float(x @ y / (x @ x))


def amdahl_f(sizes, gains):
    p, gain = np.array(sizes), np.array(gains)
    return slope(p - 1, p / gain - 1)


def gustafson_s(sizes, gains):
    p, gain = np.array(sizes), np.array(gains)
    return slope(p - 1, p - gain)


def fixed_and_divided(sizes, seconds):
    b, a = np.polyfit(1 / np.array(sizes), seconds, 1)
    return a, b


def mean_of_karp_flatt(sizes, gains):
    return float(np.mean([karp_flatt(g, p) for p, g in zip(sizes, gains, strict=True) if p > 1]))


FITS = [
    (lambda p, g: karp_flatt(g[-1], p[-1]), gustafson_s, fixed_and_divided, "largest size alone"),
    (mean_of_karp_flatt, gustafson_s, fixed_and_divided, "weight"),
    (lambda p, g: 0.03, gustafson_s, fixed_and_divided, "least squares"),
]


def test_right_fits():
    check.check_12_3(amdahl_f, gustafson_s, fixed_and_divided)


@pytest.mark.parametrize(("amdahl", "gustafson", "fixed", "words"), FITS)
def test_wrong_fits(amdahl, gustafson, fixed, words):
    assert_advice(failure(check.check_12_3, amdahl, gustafson, fixed), words)


def free_usl(sizes, gains):
    p = np.array(sizes, float)
    columns = np.stack([p - 1, p * (p - 1)], axis=1)
    return np.linalg.lstsq(columns, p / np.array(gains) - 1, rcond=None)[0]


def without_sigma_below_0(sizes, gains):
    sigma, kappa = free_usl(sizes, gains)
    return (sigma, kappa) if kappa >= 0 else (amdahl_f(sizes, gains), 0.0)


def usl(sizes, gains):
    sigma, kappa = without_sigma_below_0(sizes, gains)
    p = np.array(sizes, float)
    alone = slope(p * (p - 1), p / np.array(gains) - 1)
    return (sigma, kappa) if sigma >= 0 else (0.0, alone)


def cut(sizes, gains):
    sigma, kappa = free_usl(sizes, gains)
    return sigma, max(kappa, 0)


def at(sizes, gains, p, usl=usl):
    f, s, (a, b) = amdahl_f(sizes, gains), gustafson_s(sizes, gains), usl(sizes, gains)
    said = [p / (1 + f * (p - 1)), p - s * (p - 1), p / (1 + a * (p - 1) + b * p * (p - 1))]
    return min(said), max(said)


RANGES = [
    (free_usl, at, "which law is left"),
    (cut, at, "the best σ is"),
    (without_sigma_below_0, at, "the best κ is"),
]


def test_right_range():
    check.check_12_4(usl, at)


@pytest.mark.parametrize(("law", "ends", "words"), RANGES)
def test_wrong_range(law, ends, words):
    assert_advice(failure(check.check_12_4, law, ends), words)


# --- 12.5 -----------------------------------------------------------------------------------


def doubled(share=0.85):
    """Return an interval from `share` of ideal scaling to ideal scaling."""
    found = {}
    for name, table in foretelling.TABLES.items():
        grown = table.asked / table.sizes[-1]
        ideal = table.values[-1] * (1 / grown if table.is_time else grown)
        found[name] = (ideal, ideal / share) if table.is_time else (share * ideal, ideal)
    return found


def test_intervals_that_are_asked_for():
    check.check_12_5(doubled())


@pytest.mark.parametrize(
    ("change", "words"),
    [({"megascale": (1, 100)}, "is always right, but it tells you nothing"),
     ({"megascale": (7, 6)}, "The lower end comes first"),
     ({"megascale": 6.3}, "intervals['megascale'] = low, high"),
     ({"k80_resnet50": (5000, 6000)}, "at most be 2 times as good"),
     # a speedup, seconds, thousands of tokens
     ({"k80_resnet50": (40, 52)}, "Is it in images/s"),
     ({"a100_minutes": (120, 170)}, "Is it in minutes"),
     ({"llm_tokens": (1100, 1360)}, "Is it in tokens/s")],
)  # fmt: skip
def test_intervals_that_cannot_be(change, words):
    assert_advice(failure(check.check_12_5, doubled() | change), words)


def test_an_interval_is_missing():
    few = doubled()
    del few["p100_vgg16"]
    assert_advice(failure(check.check_12_5, few), "p100_vgg16")


# --- 12.6 to 12.8 ---------------------------------------------------------------------------


def time_to(target, accuracies, seconds, held=1, count=1):
    for i in range(len(accuracies) - held):
        if min(accuracies[i : i + 1 + held]) >= target:
            return sum(seconds[: i + count])
    return None


TIMES = [
    (lambda t, a, s: time_to(t, a, s, count=0), "counts, too"),
    (lambda t, a, s: time_to(t, a, s, held=0), "0.81 was luck"),
    (lambda t, a, s: sum(s), "not at the end"),
    (
        lambda t, a, s: next((sum(s[: i + 1]) for i in range(4) if min(a[i:]) >= t), None),
        "at the next evaluation only",
    ),
]


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
    kwh = float(energy.rstrip("KMG")) * factor / scale if energy.strip("0") else none
    return total * (gpus if devices or not gpus else 1), kwh


COSTS = [
    (lambda line: cost(line, devices=False), "Multiply by the GPUs"),
    (lambda line: cost(line, days=False), "a day and two hours"),
    (lambda line: cost(line, none=0.0), "not 0 kWh"),
    (
        lambda line: (cost(line)[0] * (2 if "node=2" in line else 1), cost(line)[1]),
        "on all of its nodes",
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


NO_NUMBER = "ask for all of the ranks that you can get, because more is better"
WORDS = "these are some words of mine, which say what I found on these 2 cores and why it matters"


def test_three_parts_in_own_words():
    check.check_12_8(WORDS, f"{WORDS} today", f"{WORDS} tomorrow")


@pytest.mark.parametrize(
    ("texts", "words"),
    [((WORDS, "", WORDS), "How many ranks, and"),
     (("Is it?", WORDS, WORDS), "Who has to decide"),
     ((WORDS, WORDS, "Much."), "these runs not tell"),
     ((WORDS, NO_NUMBER, WORDS), "Which measured value"),
     ((WORDS, WORDS.upper(), f"{WORDS} today"), "answers a different question")],
)  # fmt: skip
def test_a_part_that_says_nothing(texts, words):
    assert_advice(failure(check.check_12_8, *texts), words)
