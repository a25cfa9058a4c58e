"""The fits as text books do them, on speedups over one worker: one number each, by hand.

`scaling_laws` has the formulas (and the graded intervals); here are their numbers, residuals and
what each says of another size. The interval of a law: each size left out once (the jackknife's
range), so it shows how much one point decides, not that the law is right. For what to believe of a
size beyond the data, take `foretell`.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from autograder.measuring import scaling_laws
from autograder.measuring.interval import NotMeasured, exact

Law = Callable[[float], float]


@dataclass(frozen=True, slots=True)
class TextBookFit:
    name: str
    parameters: dict[str, float]
    residual: float  # root mean square of (law − measured) / measured
    law: Law  # workers → speedup
    others: tuple[Law, ...]  # the same law fitted without one of the sizes

    def speedup(self, workers: float) -> float:
        return self.law(workers)

    def interval(self, workers: float) -> tuple[float, float]:
        said = [law(workers) for law in (self.law, *self.others)]
        return min(said), max(said)


def amdahl(points: scaling_laws.Points) -> tuple[dict[str, float], Law]:
    f = scaling_laws.amdahl(points).value
    return {"f": f}, lambda p: p / (1 + f * (p - 1))


def gustafson(points: scaling_laws.Points) -> tuple[dict[str, float], Law]:
    s = scaling_laws.gustafson(points).value
    return {"s": s}, lambda p: p - s * (p - 1)


def usl(points: scaling_laws.Points) -> tuple[dict[str, float], Law]:
    a, b = scaling_laws.usl(points)
    return {"sigma": a, "kappa": b}, lambda p: p / (1 + a * (p - 1) + b * p * (p - 1))


def fixed_cost(points: scaling_laws.Points) -> tuple[dict[str, float], Law]:
    """a and b of T = a + b/p, in times of one worker; of times in s: `fixed_and_divided`."""
    times = [(p, exact(1 / s.value)) for p, s in points]
    a, b = (part.value for part in scaling_laws.fixed_and_divided(times))
    return {"a": a, "b": b}, lambda p: 1 / (a + b / p)


FITS = {"Amdahl": amdahl, "Gustafson": gustafson, "USL": usl, "fixed cost": fixed_cost}


def textbook(sizes: Sequence[int], speedups: Sequence[float]) -> dict[str, TextBookFit]:
    """Each law's fit by its name; a law with too few sizes is not there."""
    points = [(p, exact(s)) for p, s in sorted(zip(sizes, speedups, strict=True))]
    if not points or points[0] != (1, exact(1)):
        raise NotMeasured("a text book's law needs the speedup 1 on one worker")
    found = {}
    for name, fit in FITS.items():
        try:
            parameters, law = fit(points)
            others = [fit(points[:i] + points[i + 1 :])[1] for i in range(1, len(points))]
        except NotMeasured:
            continue
        off = [law(p) / s.value - 1 for p, s in points]
        residual = math.sqrt(sum(x * x for x in off) / len(off))
        found[name] = TextBookFit(name, parameters, residual, law, tuple(others))
    return found


CLEARLY = 0.02  # of a point's value: smaller differences are noise


def serial_fractions(sizes: Sequence[int], speedups: Sequence[float]) -> list[float]:
    """Karp–Flatt on each size beyond one worker."""
    return [
        scaling_laws.karp_flatt(exact(s), p).value
        for p, s in sorted(zip(sizes, speedups, strict=True))
        if p > 1
    ]


def free_usl(sizes: Sequence[int], speedups: Sequence[float]) -> tuple[float, float]:
    """σ and κ of USL where nothing keeps them from falling below zero."""
    import numpy as np

    p, s = np.asarray(sizes, float), np.asarray(speedups, float)
    beyond = p > 1
    p, s = p[beyond], s[beyond]
    sigma, kappa = np.linalg.lstsq(np.stack([p - 1, p * (p - 1)], 1), p / s - 1, rcond=None)[0]
    return float(sigma), float(kappa)


def objections(sizes: Sequence[int], speedups: Sequence[float]) -> list[str]:
    """What in these speedups over the smallest size speaks against a law."""
    first = min(sizes)
    relative = [size / first for size in sizes]
    order = sorted(zip(relative, speedups, strict=True))
    said = []
    fractions = [(1 / s - 1 / p) / (1 - 1 / p) for p, s in order if p > 1]
    if monotone([-e for e in fractions]):
        said.append(
            f"Karp–Flatt's fraction falls from {fractions[0]:.3g} to {fractions[-1]:.3g}: "
            "a serial part of fixed work, as Amdahl has it, does not describe these data."
        )
    if monotone(fractions):
        said.append(
            f"Karp–Flatt's fraction rises from {fractions[0]:.3g} to {fractions[-1]:.3g}: "
            "there is overhead that grows with the size, which Amdahl's law does not have."
        )
    if len(fractions) >= 2 and (kappa := free_usl(*zip(*order, strict=True))[1]) < -1e-9:
        said.append(
            f"A free fit of USL has κ = {kappa:.2g}, below zero, which means nothing: "
            "there is no sign of a peak, and κ is kept at 0."
        )
    if any(s > (1 + CLEARLY) * p for p, s in order):
        said.append(
            "Some size is superlinear: a larger cache, another local batch or the noise of the "
            "smallest size may be why; no law here explains it."
        )
    return said


def monotone(values: Sequence[float]) -> bool:
    """Rising from each to the next, by a fifth in all; three at least, for two are noise."""
    steps = itertools.pairwise(values)
    far = abs(values[-1] - values[0]) > 0.2 * abs(values[0]) if values else False
    return len(values) >= 3 and far and all(a <= b for a, b in steps)
