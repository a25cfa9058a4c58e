"""Fit scaling laws to speedups over one worker, as textbooks do, and report contradictions.

`scaling_laws` has the formulas and the graded intervals. To predict a size beyond the data, use
`foretell`.
"""

import itertools
from collections.abc import Callable, Sequence
from enum import StrEnum

from autograder.measuring import scaling_laws
from autograder.measuring.interval import NotMeasured, exact, measured_or_none


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
    if f := measured_or_none(scaling_laws.amdahl, points):
        laws["Amdahl"] = lambda p: scaling_laws.amdahl_law(p, f.value)
    if s := measured_or_none(scaling_laws.gustafson, points):
        laws["Gustafson"] = lambda p: scaling_laws.gustafson_law(p, s.value)
    if usl := measured_or_none(scaling_laws.usl, points):
        laws["USL"] = lambda p: scaling_laws.usl_law(p, *usl)
    return laws


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
    if monotone([-fraction for fraction in fractions]):
        sentences[Objection.FRACTION_FALLS] = (
            f"Karp–Flatt's fraction falls from {fractions[0]:.3g} to {fractions[-1]:.3g}: "
            "a serial part of fixed work, as Amdahl has it, does not describe these data."
        )
    if monotone(fractions):
        sentences[Objection.FRACTION_RISES] = (
            f"Karp–Flatt's fraction rises from {fractions[0]:.3g} to {fractions[-1]:.3g}: "
            "there is overhead that grows with the size, which Amdahl's law does not have."
        )
    usl = measured_or_none(scaling_laws.free_usl, [(p, exact(s)) for p, s in order])
    kappa = usl[1] if usl else 0.0
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


def monotone(values: Sequence[float]) -> bool:
    """Return whether the values never decrease and the last exceeds the first by over a fifth.

    Two values are not enough.
    """
    steps = itertools.pairwise(values)
    far = abs(values[-1] - values[0]) > 0.2 * abs(values[0]) if values else False
    return len(values) >= 3 and far and all(a <= b for a, b in steps)
