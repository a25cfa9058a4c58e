"""Fit laws of scaling to measured points, with an interval for each parameter.

A point is a number of workers and a Measure. Amdahl's f and Gustafson's s are least-squares fits,
that is, sums of the measured values with fixed weights. Their intervals are computed as the same
weighted sums of the values' intervals.
"""

from collections.abc import Callable, Sequence
from functools import partial

from autograder.measuring.interval import Measure, NotMeasured, exact, scaled

Points = Sequence[tuple[float, Measure]]  # workers, and their speedup
ALIKE = "fitting the USL needs at least two different sizes with more than one worker"
TOO_FEW = "fitting a law needs sizes with more than one worker: at least {}, but there are {}"


def through_zero(xs: Sequence[float], ys: Sequence[Measure]) -> Measure:
    """Return the slope of the line y = slope · x that fits best."""
    squares = sum(x * x for x in xs)
    parts = [scaled(y, x / squares) for x, y in zip(xs, ys, strict=True)]
    return Measure(
        sum(part.value for part in parts),
        sum(part.low for part in parts),
        sum(part.high for part in parts),
        "",
        tuple(dict.fromkeys(where for part in parts for where in part.where)),
        f"least squares over {len(parts)} sizes",
    )


def grown(speedups: Points, least: int = 1) -> Points:
    """Return the points on more than one worker, which have a speedup."""
    points = [(p, s) for p, s in speedups if p > 1 and s.low > 0]
    if len(points) < least:
        raise NotMeasured(TOO_FEW.format(least, len(points)))
    return points


def overheads(points: Points) -> list[Measure]:
    """Return p/S − 1, the fraction by which each worker's time is longer than ideal."""
    return [
        Measure(p / s.value - 1, p / s.high - 1, p / s.low - 1, where=s.where) for p, s in points
    ]


def amdahl(speedups: Points) -> Measure:
    """Return the serial fraction f in S = 1 / (f + (1−f)/p), fitted as p/S − 1 = f (p − 1)."""
    points = grown(speedups)
    return through_zero([p - 1 for p, _ in points], overheads(points))


def gustafson(speedups: Points) -> Measure:
    """Return the s in S = p − s (p − 1), for work that grows with p."""
    points = grown(speedups)
    lost = [Measure(p - s.value, p - s.high, p - s.low, where=s.where) for p, s in points]
    return through_zero([p - 1 for p, _ in points], lost)


def usl(speedups: Points) -> tuple[float, float]:
    """Return the σ and κ in S = p / (1 + σ(p−1) + κp(p−1)), neither below zero."""
    sigma, kappa = free_usl(speedups)
    points = grown(speedups)
    if kappa < 0:
        return max(0.0, amdahl(points).value), 0.0
    if sigma < 0:
        alone = through_zero([p * (p - 1.0) for p, _ in points], overheads(points))
        return 0.0, max(0.0, alone.value)
    return sigma, kappa


def free_usl(speedups: Points) -> tuple[float, float]:
    """Return the σ and κ that fit best, even if one of them is negative."""
    points = grown(speedups, 2)
    ys = [y.value for y in overheads(points)]
    ones, twos = [p - 1.0 for p, _ in points], [p * (p - 1.0) for p, _ in points]
    aa, bb, ab = dot(ones, ones), dot(twos, twos), dot(ones, twos)
    ya, yb = dot(ones, ys), dot(twos, ys)
    determinant = aa * bb - ab * ab
    if determinant < 1e-12 * aa * bb:  # zero, apart from rounding: many σ and κ fit equally well
        raise NotMeasured(ALIKE)
    return (ya * bb - yb * ab) / determinant, (yb * aa - ya * ab) / determinant


def dot(xs: Sequence[float], ys: Sequence[float]) -> float:
    return sum(x * y for x, y in zip(xs, ys, strict=True))


# --- predictions of a law for another number of workers ---------------------------------------


def monotone(law: Callable[[float], float], parameter: Measure) -> Measure:
    """Return a law's speedup, with the interval that follows from its parameter's interval.

    More overhead means less speedup.
    """
    return Measure(
        law(parameter.value), law(parameter.high), law(parameter.low), "", parameter.where,
        parameter.basis,
    )  # fmt: skip


def amdahl_law(p: float, f: float) -> float:
    return p / (1 + f * (p - 1))


def gustafson_law(p: float, s: float) -> float:
    return p - s * (p - 1)


def usl_law(p: float, sigma: float, kappa: float) -> float:
    return p / (1 + sigma * (p - 1) + kappa * p * (p - 1))


def amdahl_speedup(speedups: Points, p: int) -> Measure:
    f = amdahl(speedups)
    if 1 + f.low * (p - 1) <= 0:
        raise NotMeasured("the range of f reaches below zero, so Amdahl's law does not apply here")
    return monotone(partial(amdahl_law, p), f)


def gustafson_speedup(speedups: Points, p: int) -> Measure:
    return monotone(partial(gustafson_law, p), gustafson(speedups))


def usl_speedup(speedups: Points, p: int) -> Measure:
    where = tuple(dict.fromkeys(w for _, s in speedups for w in s.where))
    return exact(usl_law(p, *usl(speedups)), where=where, basis="USL, κ ≥ 0")


LAWS = (amdahl_speedup, gustafson_speedup, usl_speedup)


def lowest(speedups: Points, p: int) -> Measure:
    return min(foretold(speedups, p), key=lambda m: m.value)


def highest(speedups: Points, p: int) -> Measure:
    return max(foretold(speedups, p), key=lambda m: m.value)


def foretold(speedups: Points, p: int) -> list[Measure]:
    """Return predictions from at least two laws, because the result often depends on the law."""
    estimates, reasons = [], []
    for law in LAWS:
        try:
            estimates.append(law(speedups, p))
        except NotMeasured as missing:
            reasons.append(missing)
    if len(estimates) < 2:
        raise reasons[0]
    return estimates
