"""Fit the scaling laws that textbooks use.

A point is a number of workers and their speedup over one. The fits are least squares. Amdahl's f
and Gustafson's s are sums of the measured values with fixed weights, so their intervals follow from
the ends of the values' intervals.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from autograder.measuring import interval
from autograder.measuring.interval import Measure, NotMeasured, computed, exact
from autograder.records import Where

Points = Sequence[tuple[float, Measure]]  # workers, and their speedup


def grown(speedups: Points, least: int = 1) -> Points:
    """Return the points on more than one worker, which have a speedup."""
    points = [(p, s) for p, s in speedups if p > 1 and s.low > 0]
    if len(points) < least:
        needs = "fitting a law needs sizes with more than one worker"
        raise NotMeasured(f"{needs}: at least {least}, but there are {len(points)}")
    return points


def places(points: Points) -> tuple[Where, ...]:
    return tuple(dict.fromkeys(place for _, speedup in points for place in speedup.where))


# --- fits ---------------------------------------------------------------------------------------


def dot(xs: Sequence[float], ys: Sequence[float]) -> float:
    return sum(x * y for x, y in zip(xs, ys, strict=True))


def slope(xs: Sequence[float], ys: Sequence[float]) -> float:
    """Return the slope of the line y = slope · x that fits best."""
    return dot(xs, ys) / dot(xs, xs)


def overhead(lost: Callable[[float, float], float], speedups: Points) -> Measure:
    """Return the slope of lost(p, S) over p − 1. Low speedups mean a high overhead."""
    points = grown(speedups)
    ones = [p - 1 for p, _ in points]
    value, low, high = (
        slope(ones, [lost(p, getattr(s, end)) for p, s in points])
        for end in ("value", "high", "low")
    )
    return Measure(value, low, high, "", places(points), f"least squares over {len(points)} sizes")


# f in S = 1 / (f + (1−f)/p), and s in S = p − s (p − 1), for work that grows with p
amdahl = partial(overhead, lambda p, s: p / s - 1)
gustafson = partial(overhead, lambda p, s: p - s)


def free_usl(speedups: Points) -> tuple[float, float]:
    """Return the σ and κ that fit best, even if one of them is negative."""
    points = grown(speedups, 2)
    ones, twos = [p - 1.0 for p, _ in points], [p * (p - 1.0) for p, _ in points]
    ys = [p / s.value - 1 for p, s in points]
    aa, bb, ab = dot(ones, ones), dot(twos, twos), dot(ones, twos)
    ya, yb = dot(ones, ys), dot(twos, ys)
    determinant = aa * bb - ab * ab
    if determinant < 1e-12 * aa * bb:  # zero, apart from rounding: many σ and κ fit equally well
        raise NotMeasured("fitting the USL needs two different sizes with more than one worker")
    return (ya * bb - yb * ab) / determinant, (yb * aa - ya * ab) / determinant


def usl(speedups: Points) -> tuple[float, float]:
    """Return the σ and κ in S = p / (1 + σ(p−1) + κp(p−1)), neither below zero."""
    sigma, kappa = free_usl(speedups)
    if kappa < 0:
        return max(0.0, amdahl(speedups).value), 0.0
    if sigma < 0:
        points = grown(speedups)
        twos, ys = [p * (p - 1) for p, _ in points], [p / s.value - 1 for p, s in points]
        return 0.0, max(0.0, slope(twos, ys))
    return sigma, kappa


# --- laws, and their predictions for another number of workers ----------------------------------


@dataclass(frozen=True, slots=True)
class Law:
    """A law: how its overheads are fitted, and its speedup on p workers with these overheads."""

    name: str
    fit: Callable[[Points], Sequence[Measure]]
    speedup: Callable[..., float]


AMDAHL = Law("Amdahl", lambda points: [amdahl(points)], lambda p, f: p / (1 + f * (p - 1)))
GUSTAFSON = Law("Gustafson", lambda points: [gustafson(points)], lambda p, s: p - s * (p - 1))
USL = Law(
    "USL",
    lambda points: [exact(overhead, "", places(points), "USL, κ ≥ 0") for overhead in usl(points)],
    lambda p, sigma, kappa: p / (1 + sigma * (p - 1) + kappa * p * (p - 1)),
)
LAWS = (AMDAHL, GUSTAFSON, USL)


def predicted(law: Law, speedups: Points, workers: int) -> Measure:
    overheads = law.fit(speedups)
    if law is AMDAHL and 1 + overheads[0].low * (workers - 1) <= 0:
        raise NotMeasured("the range of f reaches below zero, so Amdahl's law does not apply here")
    return computed(partial(law.speedup, workers), *overheads, basis=overheads[0].basis)


def predictions(speedups: Points, workers: int) -> list[Measure]:
    """Return predictions from at least two laws, because the result often depends on the law."""
    return interval.each_measured(lambda law: predicted(law, speedups, workers), LAWS, least=2)


def lowest(speedups: Points, workers: int = 1024) -> Measure:
    return min(predictions(speedups, workers), key=lambda prediction: prediction.value)


def highest(speedups: Points, workers: int = 1024) -> Measure:
    return max(predictions(speedups, workers), key=lambda prediction: prediction.value)
