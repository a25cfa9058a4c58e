"""Laws of scaling fitted to measured points, each parameter with the range that the points leave.

A point is a number of workers and a Measure. Amdahl's f, Gustafson's s and the two parts of a time
are least squares, so they are sums of the measured values with fixed weights, and their ranges are
the same sums over the values' ranges.
"""

from collections.abc import Callable, Sequence

from autograder.measuring.measure import Measure, Missing, Result, exact

Points = Sequence[tuple[int, Measure]]  # workers and the speedup, or the seconds, on them
TOO_FEW = "to fit a law, sizes beyond one worker are needed: {}, and there are {}"


def weighted_sum(weights: Sequence[float], values: Sequence[Measure], unit: str = "") -> Measure:
    ends = [sorted((w * v.low, w * v.high)) for w, v in zip(weights, values, strict=True)]
    return Measure(
        sum(w * v.value for w, v in zip(weights, values, strict=True)),
        sum(low for low, _ in ends),
        sum(high for _, high in ends),
        unit,
        tuple(dict.fromkeys(where for value in values for where in value.where)),
        f"least squares over {len(values)} sizes",
    )


def through_zero(xs: Sequence[float], ys: Sequence[Measure]) -> Measure:
    """The slope of y = slope · x."""
    squares = sum(x * x for x in xs)
    return weighted_sum([x / squares for x in xs], ys)


def grown(speedups: Points, least: int = 1) -> Points | Missing:
    """The points beyond one worker, where speedups say something."""
    points = [(p, s) for p, s in speedups if p > 1 and s.low > 0]
    return points if len(points) >= least else Missing(TOO_FEW.format(least, len(points)))


def overheads(points: Points) -> list[Measure]:
    """p/S − 1, the share by which each worker's time is longer than ideal."""
    return [
        Measure(p / s.value - 1, p / s.high - 1, p / s.low - 1, where=s.where) for p, s in points
    ]


def amdahl(speedups: Points) -> Result:
    """f of S = 1 / (f + (1−f)/p), the serial fraction: p/S − 1 = f (p − 1)."""
    points = grown(speedups)
    if isinstance(points, Missing):
        return points
    return through_zero([p - 1 for p, _ in points], overheads(points))


def gustafson(speedups: Points) -> Result:
    """s of S = p − s (p − 1), for work that grows with p."""
    points = grown(speedups)
    if isinstance(points, Missing):
        return points
    lost = [Measure(p - s.value, p - s.high, p - s.low, where=s.where) for p, s in points]
    return through_zero([p - 1 for p, _ in points], lost)


def usl(speedups: Points) -> tuple[float, float] | Missing:
    """α and β of S = p / (1 + α(p−1) + βp(p−1)), neither below zero."""
    points = grown(speedups, 2)
    if isinstance(points, Missing):
        return points
    ys = [y.value for y in overheads(points)]
    ones, twos = [p - 1.0 for p, _ in points], [p * (p - 1.0) for p, _ in points]
    aa, bb, ab = dot(ones, ones), dot(twos, twos), dot(ones, twos)
    ya, yb = dot(ones, ys), dot(twos, ys)
    alpha, beta = (
        (ya * bb - yb * ab) / (aa * bb - ab * ab),
        (yb * aa - ya * ab) / (aa * bb - ab * ab),
    )
    if beta < 0:
        return max(0.0, ya / aa), 0.0
    return (0.0, max(0.0, yb / bb)) if alpha < 0 else (alpha, beta)


def dot(xs: Sequence[float], ys: Sequence[float]) -> float:
    return sum(x * y for x, y in zip(xs, ys, strict=True))


def fixed_and_divided(seconds: Points) -> tuple[Measure, Measure] | Missing:
    """a and b of T = a + b/p: seconds that stay and seconds that are divided."""
    sizes = {p for p, _ in seconds}
    if len(sizes) < 2:
        return Missing(f"two parts of a time need at least two sizes; there are {len(sizes)}")
    xs, ts = [1 / p for p, _ in seconds], [t for _, t in seconds]
    mean = sum(xs) / len(xs)
    spread = sum((x - mean) ** 2 for x in xs)
    slopes = [(x - mean) / spread for x in xs]
    fixed = weighted_sum([1 / len(xs) - mean * slope for slope in slopes], ts, "s")
    return fixed, weighted_sum(slopes, ts, "s")


# --- what a law says of another number of workers ----------------------------------------------


def monotone(law: Callable[[float], float], parameter: Measure, unit: str = "") -> Measure:
    """A law's value over its parameter's range; more overhead, less speedup."""
    return Measure(
        law(parameter.value), law(parameter.high), law(parameter.low), unit, parameter.where,
        parameter.basis,
    )  # fmt: skip


def amdahl_speedup(speedups: Points, p: int) -> Result:
    f = amdahl(speedups)
    if isinstance(f, Missing):
        return f
    if 1 + f.low * (p - 1) <= 0:
        return Missing("the range of f reaches below zero, so Amdahl's law says nothing here")
    return monotone(lambda f: p / (1 + f * (p - 1)), f)


def gustafson_speedup(speedups: Points, p: int) -> Result:
    s = gustafson(speedups)
    return s if isinstance(s, Missing) else monotone(lambda s: p - s * (p - 1), s)


def usl_speedup(speedups: Points, p: int) -> Result:
    fitted = usl(speedups)
    if isinstance(fitted, Missing):
        return fitted
    alpha, beta = fitted
    where = tuple(dict.fromkeys(w for _, s in speedups for w in s.where))
    return exact(p / (1 + alpha * (p - 1) + beta * p * (p - 1)), where=where, basis="USL, β ≥ 0")


LAWS: dict[str, Callable[[Points, int], Result]] = {
    "amdahl": amdahl_speedup,
    "gustafson": gustafson_speedup,
    "usl": usl_speedup,
}


def lowest_and_highest(speedups: Points, p: int) -> tuple[Measure, Measure] | Missing:
    """Between which speedups the laws leave it open: mostly the choice of a law decides."""
    said = [law(speedups, p) for law in LAWS.values()]
    known = [result for result in said if isinstance(result, Measure)]
    if len(known) < 2:
        return next(result for result in said if isinstance(result, Missing))
    return min(known, key=lambda m: m.value), max(known, key=lambda m: m.value)
