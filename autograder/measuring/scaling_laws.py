"""Fit the laws of scaling that textbooks use, and report what contradicts them.

A point is a number of workers and their speedup over one. The fits are least squares. Amdahl's f
and Gustafson's s are sums of the measured values with fixed weights, so their intervals follow from
the ends of the values' intervals. To predict a size beyond the data, use `laws.foretell`.
"""

import itertools
from collections.abc import Callable, Sequence
from enum import StrEnum
from functools import partial

from autograder.measuring.interval import (
    Measure,
    NotMeasured,
    each_measured,
    exact,
    measured_or_none,
)

Points = Sequence[tuple[float, Measure]]  # workers, and their speedup
Numbers = Sequence[tuple[float, float]]


def grown(speedups: Points, least: int = 1) -> Points:
    """Return the points on more than one worker, which have a speedup."""
    points = [(p, s) for p, s in speedups if p > 1 and s.low > 0]
    if len(points) < least:
        raise NotMeasured(
            f"fitting a law needs sizes with more than one worker: at least {least}, but there "
            f"are {len(points)}"
        )
    return points


# --- fits ---------------------------------------------------------------------------------------


def dot(xs: Sequence[float], ys: Sequence[float]) -> float:
    return sum(x * y for x, y in zip(xs, ys, strict=True))


def slope(xs: Sequence[float], ys: Sequence[float]) -> float:
    """Return the slope of the line y = slope · x that fits best."""
    return dot(xs, ys) / dot(xs, xs)


def amdahl_f(points: Numbers) -> float:
    """Return the serial fraction f in S = 1 / (f + (1−f)/p), fitted as p/S − 1 = f (p − 1)."""
    return slope([p - 1 for p, _ in points], [p / s - 1 for p, s in points])


def gustafson_s(points: Numbers) -> float:
    """Return the s in S = p − s (p − 1), for work that grows with p."""
    return slope([p - 1 for p, _ in points], [p - s for p, s in points])


def with_interval(fit: Callable[[Numbers], float], speedups: Points) -> Measure:
    """Return a fitted overhead. Its high end belongs to the low ends of the speedups."""
    points = grown(speedups)
    value, low, high = (
        fit([(p, getattr(s, end)) for p, s in points]) for end in ("value", "high", "low")
    )
    where = tuple(dict.fromkeys(place for _, s in points for place in s.where))
    return Measure(value, low, high, "", where, f"least squares over {len(points)} sizes")


amdahl = partial(with_interval, amdahl_f)
gustafson = partial(with_interval, gustafson_s)


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


# --- predictions for another number of workers --------------------------------------------------


def amdahl_law(p: float, f: float) -> float:
    return p / (1 + f * (p - 1))


def gustafson_law(p: float, s: float) -> float:
    return p - s * (p - 1)


def usl_law(p: float, sigma: float, kappa: float) -> float:
    return p / (1 + sigma * (p - 1) + kappa * p * (p - 1))


def with_less_overhead(law: Callable[[float], float], overhead: Measure) -> Measure:
    """Return a law's speedup. Its high end belongs to the low end of the overhead."""
    value, low, high = map(law, (overhead.value, overhead.high, overhead.low))
    return Measure(value, low, high, "", overhead.where, overhead.basis)


def amdahl_speedup(speedups: Points, workers: int) -> Measure:
    f = amdahl(speedups)
    if 1 + f.low * (workers - 1) <= 0:
        raise NotMeasured("the range of f reaches below zero, so Amdahl's law does not apply here")
    return with_less_overhead(partial(amdahl_law, workers), f)


def gustafson_speedup(speedups: Points, workers: int) -> Measure:
    return with_less_overhead(partial(gustafson_law, workers), gustafson(speedups))


def usl_speedup(speedups: Points, workers: int) -> Measure:
    where = dict.fromkeys(place for _, s in speedups for place in s.where)
    return exact(usl_law(workers, *usl(speedups)), where=where, basis="USL, κ ≥ 0")


LAWS = (amdahl_speedup, gustafson_speedup, usl_speedup)


def predictions(speedups: Points, workers: int) -> list[Measure]:
    """Return predictions from at least two laws, because the result often depends on the law."""
    estimates = each_measured(lambda law: law(speedups, workers), LAWS)
    if len(estimates) < 2:
        raise NotMeasured("the speedups fit only one law, and a prediction needs at least two")
    return estimates


def lowest(speedups: Points, workers: int) -> Measure:
    return min(predictions(speedups, workers), key=lambda prediction: prediction.value)


def highest(speedups: Points, workers: int) -> Measure:
    return max(predictions(speedups, workers), key=lambda prediction: prediction.value)


def textbook(
    sizes: Sequence[int], speedups: Sequence[float]
) -> dict[str, Callable[[float], float]]:
    """Return the laws as functions of the number of workers, keyed by name.

    Laws that need more sizes are left out.
    """
    points = [(p, exact(s)) for p, s in sorted(zip(sizes, speedups, strict=True))]
    if not points or points[0] != (1, exact(1)):
        raise NotMeasured("a textbook law needs a speedup of 1 on one worker")
    laws: dict[str, Callable[[float], float]] = {}
    if f := measured_or_none(amdahl, points):
        laws["Amdahl"] = lambda p: amdahl_law(p, f.value)
    if s := measured_or_none(gustafson, points):
        laws["Gustafson"] = lambda p: gustafson_law(p, s.value)
    if sigma_kappa := measured_or_none(usl, points):
        laws["USL"] = lambda p: usl_law(p, *sigma_kappa)
    return laws


# --- contradictions -----------------------------------------------------------------------------


class Objection(StrEnum):
    """Facts that contradict a law."""

    FRACTION_FALLS = "fraction falls"  # contradicts Amdahl's law
    FRACTION_RISES = "fraction rises"  # contradicts Amdahl's law
    KAPPA_BELOW_ZERO = "kappa below zero"  # contradicts the USL
    SUPERLINEAR = "superlinear"  # contradicts all of them


CLEARLY = 0.02  # fraction of a point's value; smaller differences are noise


def objections(sizes: Sequence[int], speedups: Sequence[float]) -> dict[Objection, str]:
    """Return a sentence for each way in which speedups over the smallest size contradict a law."""
    first = min(sizes)
    order = sorted((size / first, speedup) for size, speedup in zip(sizes, speedups, strict=True))
    fractions = [(1 / s - 1 / p) / (1 - 1 / p) for p, s in order if p > 1]
    sentences = {}
    if rises([-fraction for fraction in fractions]):
        sentences[Objection.FRACTION_FALLS] = (
            f"Karp–Flatt's fraction falls from {fractions[0]:.3g} to {fractions[-1]:.3g}: "
            "a serial part of fixed work, as Amdahl has it, does not describe these data."
        )
    if rises(fractions):
        sentences[Objection.FRACTION_RISES] = (
            f"Karp–Flatt's fraction rises from {fractions[0]:.3g} to {fractions[-1]:.3g}: "
            "there is overhead that grows with the size, which Amdahl's law does not have."
        )
    _, kappa = measured_or_none(free_usl, [(p, exact(s)) for p, s in order]) or (0.0, 0.0)
    if kappa < -1e-9:
        sentences[Objection.KAPPA_BELOW_ZERO] = (
            f"A free fit of USL has κ = {kappa:.2g}, below zero, which means nothing: "
            "there is no sign of a peak, and κ is kept at 0."
        )
    if any(s > (1 + CLEARLY) * p for p, s in order):
        sentences[Objection.SUPERLINEAR] = (
            "At least one size is superlinear, which no law here explains. The reason may be a "
            "larger cache, a different local batch or noise at the smallest size."
        )
    return sentences


def rises(values: Sequence[float]) -> bool:
    """Return whether the values never decrease and the last exceeds the first by over a fifth.

    Two values are not enough.
    """
    return (
        len(values) >= 3
        and abs(values[-1] - values[0]) > 0.2 * abs(values[0])
        and all(a <= b for a, b in itertools.pairwise(values))
    )
