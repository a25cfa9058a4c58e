"""Scaling laws checked against published numbers (test_scaling_laws.py) and against themselves."""

import math
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from autograder.measuring import laws
from autograder.measuring.interval import NotMeasured
from autograder.measuring.laws import Objection, forms
from tests.autograder.measuring.test_scaling_laws import GPUS, LARGE, SMALL

pytestmark = pytest.mark.slow


def gains(table):
    return [rate / table["images_s"][0] for rate in table["images_s"]]


def foretold(study, size, node=None):
    [answer] = laws.foretell(study, [size], node)
    return answer


# --- as in text books --------------------------------------------------------------------------


@pytest.mark.parametrize(("table", "amdahl", "gustafson"), [(SMALL, 59, 715), (LARGE, 187, 919)])
def test_published_fits(table, amdahl, gustafson):
    found = laws.textbook(GPUS, gains(table))
    assert round(found["Amdahl"](1024)) == amdahl
    assert round(found["Gustafson"](1024)) == gustafson
    assert found["USL"](1024) > 0


@pytest.mark.parametrize("table", [SMALL, LARGE])
def test_what_speaks_against_laws_is_said(table):
    found = laws.objections(GPUS, gains(table))
    assert list(found) == [Objection.FRACTION_FALLS, Objection.KAPPA_BELOW_ZERO]
    assert "κ = -0.0001" in found[Objection.KAPPA_BELOW_ZERO]


def test_rising_overhead_and_superlinear_points_are_said():
    rising = [p / (1 + 0.001 * p * (p - 1)) for p in GPUS]
    assert Objection.FRACTION_RISES in laws.objections(GPUS, rising)
    assert Objection.SUPERLINEAR in laws.objections((1, 2, 4), (1, 2.2, 4.6))
    assert laws.objections(GPUS, [1 / (0.02 + 0.98 / p) for p in GPUS]) == {}


@pytest.mark.parametrize(
    ("sizes", "speedups", "names"),
    [((1,), (1,), set()), ((1, 2, 2), (1, 1.9, 1.8), {"Amdahl", "Gustafson"})],
)
def test_too_few_sizes_leave_a_law_out(sizes, speedups, names):
    assert set(laws.textbook(sizes, speedups)) == names
    assert laws.objections(sizes, speedups) == {}


# --- all laws together -------------------------------------------------------------------------

SIZES = [2**i for i in range(12)]
SHARE = st.floats(0, 0.3)
TINY = st.floats(0, 0.01)
TRUTHS = {
    "Amdahl": (1, lambda n, k, _: 1 + k * (n - 1)),
    "Gustafson": (1, lambda n, k, _: n / (k + (1 - k) * n)),
    "USL": (2, lambda n, k, b: 1 + k * (n - 1) + b * n * (n - 1)),
    "fixed cost": (1, lambda n, k, _: 1 + 10 * k * n),
    "tree": (1, lambda n, k, _: 1 + k * math.log2(n)),
    "tree, fixed work": (2, lambda n, k, b: 1 + k * n + b * n * math.log2(n)),
    "ring": (2, lambda n, k, b: 1 + k * (1 - 1 / n) + b * n),
    "power": (1, lambda n, k, _: n**k),
}


@settings(max_examples=40, deadline=None)
@pytest.mark.parametrize("name", TRUTHS)
@given(k=SHARE, b=TINY, first=st.sampled_from((1, 4, 64)), beyond=st.integers(1, 3), data=st.data())
def test_the_envelope_holds_the_truth_of_every_law(name, k, b, first, beyond, data):
    """Without noise, one more size than the law has parameters (offset included) is enough."""
    free, cost = TRUTHS[name]
    count = data.draw(st.integers(free + 2, 6))
    sizes = [first * n for n in SIZES[:count]]
    study = laws.of_times(sizes, [cost(n, k, b) / n for n in sizes])
    size = sizes[-1] * 2**beyond
    answer = foretold(study, size)
    truth = size / first * cost(first, k, b) / cost(size, k, b)
    assert answer.low * (1 - 1e-6) <= truth <= answer.high * (1 + 1e-6)


RATES = st.lists(st.floats(0.3, 1.3), min_size=3, max_size=6)


@settings(deadline=None)
@given(RATES, st.floats(1e-3, 3600), st.integers(1, 3), st.randoms())
@example([0.3, 0.30000000000000004, 0.3], 0.5, 1, Random(1))
def test_neither_unit_nor_order_matters(efficiencies, unit, beyond, random):
    sizes = SIZES[: len(efficiencies)]
    rates = [n * e for n, e in zip(sizes, efficiencies, strict=True)]
    size = sizes[-1] * 2**beyond
    first = foretold(laws.of_rates(sizes, rates), size)
    assert 0 < first.low < first.high
    rows = [*zip(sizes, rates, strict=True)]
    random.shuffle(rows)
    for study in (
        laws.of_times([n for n, _ in rows], [unit / r for _, r in rows]),
        laws.of_rates([n for n, _ in rows], [r * unit for _, r in rows]),
        laws.of_times([n for n, _ in rows], [n / r for n, r in rows], "weak"),
    ):
        other = foretold(study, size)
        assert (other.low, other.high) == pytest.approx((first.low, first.high), rel=1e-6)


@settings(deadline=None)
@given(RATES, st.integers(1, 3))
def test_no_more_than_ideal_unless_a_size_was(efficiencies, beyond):
    falling = [1.0, *(min(1.0, e) for e in efficiencies)]
    sizes = SIZES[: len(falling)]
    study = laws.of_rates(sizes, [n * e for n, e in zip(sizes, falling, strict=True)])
    for size in (sizes[-1] * 2**beyond, sizes[-1] + 1):
        assert foretold(study, size).high <= size * (1 + 1e-9)


@settings(deadline=None)
@given(RATES)
def test_farther_is_less_certain(efficiencies):
    sizes, falling = SIZES[: len(efficiencies)], sorted(efficiencies, reverse=True)
    study = laws.of_rates(sizes, [n * e for n, e in zip(sizes, falling, strict=True)])
    near, far = laws.foretell(study, [sizes[-1] * 2, sizes[-1] * 8])
    assert near.ratio <= far.ratio * 1.01


def test_within_a_node_nothing_is_known_of_the_network():
    study = laws.of_rates((1, 2, 4), (100, 198, 390))
    inside, outside = foretold(study, 8, node=8), foretold(study, 8, node=4)
    assert inside.low > 1.2 * outside.low
    assert inside.high == pytest.approx(outside.high, rel=0.02)


def test_three_points_do_not_let_usl_say_that_it_gets_slower():
    """USL fits any three points exactly.

    Its best fit of these predicts a speedup of seven on 64.
    """
    rates = (100, 195, 350)
    study = laws.of_rates((1, 2, 4), rates)
    usl = next(w for w in foretold(study, 32).laws if w.fit.form is forms.USL)
    assert usl.best < 8
    assert foretold(study, 32).high > 20


@pytest.mark.parametrize(
    ("sizes", "size", "words"),
    [
        ((1, 2), 4, "at least 3 sizes, and there are 2"),
        ((1, 1), 4, "there is 1"),
        ((1, 2, 4), 64, "64 is too far beyond .* no prediction beyond 32"),
        ((4, 8, 16), 2, "2 is below the smallest size"),
    ],
)
def test_what_is_not_foretold(sizes, size, words):
    with pytest.raises(NotMeasured, match=words):
        foretold(laws.of_rates(sizes, [float(n) for n in sizes]), size)


@pytest.mark.parametrize("value", [0, -1, math.nan, math.inf])
def test_only_positive_values_are_studied(value):
    with pytest.raises(NotMeasured, match="above 0"):
        laws.of_times((1, 2), (1, value))


@settings(deadline=None)
@given(RATES, st.floats(0, 0.05), st.randoms())
def test_repeats_may_come_in_any_order(efficiencies, spread, random):
    rows = [
        (n, n * e * (1 + shift * spread))
        for n, e in zip(SIZES, efficiencies, strict=False)
        for shift in (-1, 0, 1)
    ]
    first = foretold(laws.of_rates(*zip(*rows, strict=True)), 2 * rows[-1][0])
    random.shuffle(rows)
    other = foretold(laws.of_rates(*zip(*rows, strict=True)), 2 * max(rows)[0])
    assert (other.low, other.high) == pytest.approx((first.low, first.high), rel=1e-9)


def test_repeats_that_differ_widen_the_answer():
    def asked(spread):
        shifts = (1 - spread, 1, 1 + spread)
        rows = [(n, n * (0.97**i) * x) for i, n in enumerate((1, 2, 4, 8)) for x in shifts]
        return foretold(laws.of_rates(*zip(*rows, strict=True)), 16)

    assert asked(0.001).ratio < asked(0.03).ratio < asked(0.1).ratio
