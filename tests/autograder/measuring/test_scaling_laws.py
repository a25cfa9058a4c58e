"""Fits against published numbers of a Vision Transformer on 1 to 32 H100 of MareNostrum 5.

The tables for a small and a large data set are from "Supercomputing for Artificial Intelligence" by
J. Torres, ch. 12.
"""

import pytest
from hypothesis import given, strategies as st

from autograder.measuring import scaling_laws
from autograder.measuring.interval import Measure, NotMeasured, exact

GPUS = (1, 2, 4, 8, 16, 32)
SMALL = {"images_s": (240, 464, 892, 1668, 3075, 5205), "seconds": (556, 439, 380, 347, 330, 328)}
LARGE = {"images_s": (242, 475, 935, 1817, 3597, 6914), "seconds": (2350, 1354, 842, 605, 457, 310)}


def speedups(table):
    rates = table["images_s"]
    return [(p, exact(rate / rates[0])) for p, rate in zip(GPUS, rates, strict=True)]


@pytest.mark.parametrize(
    ("law", "small", "large"),
    [(scaling_laws.amdahl, 0.0159, 0.00438), (scaling_laws.gustafson, 0.302, 0.102)],
)
def test_published_serial_fractions(law, small, large):
    assert law(speedups(SMALL)).value == pytest.approx(small, rel=0.004)
    assert law(speedups(LARGE)).value == pytest.approx(large, rel=0.004)


@pytest.mark.parametrize(("table", "low", "high"), [(SMALL, 59, 715), (LARGE, 187, 919)])
def test_the_range_at_1024(table, low, high):
    assert round(scaling_laws.lowest(speedups(table), 1024).value) == low
    assert round(scaling_laws.highest(speedups(table), 1024).value) == high


def test_usl_is_not_let_below_zero():
    """An unconstrained fit of either table has a negative beta, and a negative speedup at 1,024."""
    for table in (SMALL, LARGE):
        alpha, beta = scaling_laws.usl(speedups(table))
        assert beta == 0
        assert alpha == pytest.approx(scaling_laws.amdahl(speedups(table)).value)
        assert scaling_laws.predicted(scaling_laws.USL, speedups(table), 1024).value > 0


def law_points(law):
    return [(p, exact(law(p))) for p in GPUS]


@given(st.floats(0, 0.9), st.floats(0, 0.01))
def test_points_of_a_law_give_its_parameters_back(alpha, beta):
    points = law_points(lambda p: p / (1 + alpha * (p - 1) + beta * p * (p - 1)))
    assert scaling_laws.usl(points) == pytest.approx((alpha, beta), abs=1e-6)
    f = law_points(lambda p: 1 / (alpha + (1 - alpha) / p))
    assert scaling_laws.amdahl(f).value == pytest.approx(alpha, abs=1e-9)
    s = law_points(lambda p: p - alpha * (p - 1))
    assert scaling_laws.gustafson(s).value == pytest.approx(alpha, abs=1e-9)


@given(st.lists(st.floats(0.5, 1.5), min_size=5, max_size=5), st.floats(0, 0.1))
def test_the_truth_of_points_within_their_ranges_is_within_the_fits_range(shake, width):
    rates = [p * x for p, x in zip(GPUS[1:], shake, strict=True)]
    wide = [
        (p, Measure(r, r * (1 - width), r * (1 + width)))
        for p, r in zip(GPUS[1:], rates, strict=True)
    ]
    for ends in (1 - width, 1, 1 + width):
        inside = [(p, exact(r * ends)) for p, r in zip(GPUS[1:], rates, strict=True)]
        for law in (scaling_laws.amdahl, scaling_laws.gustafson):
            fit = law(wide)
            assert fit.low - 1e-9 <= law(inside).value <= fit.high + 1e-9


@pytest.mark.parametrize(
    ("law", "points", "words"),
    [
        (scaling_laws.amdahl, [(1, exact(1))], "1, but there are 0"),
        (scaling_laws.gustafson, [(1, exact(1))], "1, but there are 0"),
        (scaling_laws.usl, [(1, exact(1)), (2, exact(1.9))], "2, but there are 1"),
        (scaling_laws.usl, [(2, exact(1.9)), (2, exact(1.8))], "two different sizes"),
        (scaling_laws.usl, [(7 / 3, exact(s)) for s in (2.1, 2.2, 2.3)], "two different sizes"),
    ],
)
def test_too_few_sizes_fit_no_law(law, points, words):
    with pytest.raises(NotMeasured, match=words):
        law(points)


def test_two_laws_are_enough_to_say_what_they_leave_open():
    """USL needs two sizes beyond one worker. Without it, the other two laws still give a range."""
    points = [(1, exact(1)), (2, exact(1.9))]
    known = [scaling_laws.predicted(law, points, 8).value for law in scaling_laws.LAWS[:2]]
    assert scaling_laws.lowest(points, 8).value == min(known)
    assert scaling_laws.highest(points, 8).value == max(known)
    with pytest.raises(NotMeasured, match="1, but there are 0"):
        scaling_laws.lowest(points[:1], 8)
