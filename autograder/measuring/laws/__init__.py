"""Fit scaling laws to a study, judge the fits, and predict values at other sizes.

    from autograder.measuring import laws

    study = laws.of_times(sizes, seconds, kind="strong")     # or "epoch", "weak"
    study = laws.of_rates(sizes, images_per_second)          # of all workers together
    [at_64] = laws.foretell(study, [64], node=4)             # NotMeasured says why not
    at_64.low, at_64.high                                    # speedup over the smallest size
    at_64.laws[0].fit.form.name, .parameters, .residual; .low, .best, .high; .describes

    laws.textbook(sizes, speedups)      # the fits that textbooks use, as in lesson 12
    laws.objections(sizes, speedups)    # what contradicts a law: codes and sentences

Sizes may repeat and come in any order. Speedups are relative to the smallest size of the study.

The predictions of all laws for a size are combined into one interval. Each fit of each law is
weighted by how well it matches the points. The interval contains 95 % of the predictions, and also
the best fit of each law that describes the points. It is widened for effects that no law describes:
beyond the data, a doubling may lose less or more, and the first step onto the network has a cost.
`benchmarks/grading/foretell.py` measures how often the interval is right; the constants come from
there.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from autograder.measuring.interval import NotMeasured
from autograder.measuring.laws import fitting
from autograder.measuring.laws.fitting import KINDS, Fit, Study, of_rates, of_times
from autograder.measuring.scaling_laws import Objection, objections, textbook

__all__ = [
    "KINDS",
    "Foretold",
    "Objection",
    "Said",
    "Study",
    "farthest",
    "foretell",
    "objections",
    "of_rates",
    "of_times",
    "textbook",
]

FEWEST_SIZES = 3
# A law describes the data if its squared distances sum to at most this much more than the best's.
WORSE = 6.0
# Times the largest size: the farthest prediction, and the range that is always allowed.
FARTHEST, ALWAYS = 32, 8
LESS, MORE = 0.35, 0.10  # fraction of the predicted further loss that may be absent or be added
PER_DOUBLING = 0.03  # relative widening; grows with the square root of the number of doublings
NETWORK = 0.35  # the first step beyond a node: work may cost exp(0.35) = 1.4 times as much
AGAIN = 0.03  # a superlinear study may become more so
USUAL_NODE = 8  # if the number of workers per node is unknown
MAYBE_NODE, MAYBE_NETWORK = 0.10, 0.20  # the same as NETWORK, within that size and beyond it


@dataclass(frozen=True, slots=True)
class Said:
    """One law's prediction for one size, expressed as speedups over the smallest size."""

    fit: Fit
    describes: bool
    best: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Foretold:
    """The predictions of all laws and the interval, as speedups over the smallest size."""

    size: int
    low: float
    high: float
    laws: tuple[Said, ...]

    @property
    def ratio(self) -> float:
        return self.high / self.low


def farthest(study: Study) -> int:
    """Return the largest size that can be predicted.

    The limit is at least 8 and at most 32 times the largest measured size. Between these bounds,
    the factor is the ratio of the largest to the smallest measured size.
    """
    span = study.sizes[-1] // study.sizes[0]
    return study.sizes[-1] * min(FARTHEST, max(ALWAYS, span))


def check(study: Study, size: int) -> None:
    there, first, last = len(study.sizes), study.sizes[0], study.sizes[-1]
    if there < FEWEST_SIZES:
        raise NotMeasured(
            f"a prediction needs at least {FEWEST_SIZES} sizes, and there "
            + (f"are {there}" if there != 1 else "is 1"),
            "run the job on more sizes",
        )
    if size < first:
        raise NotMeasured(f"{size:,} is below the smallest size of the table, {first:,}")
    if size > farthest(study):
        raise NotMeasured(
            f"{size:,} is too far beyond the largest size of the table, {last:,}: these data "
            f"allow no prediction beyond {farthest(study):,}",
            "run the job on larger sizes",
        )


def foretell(study: Study, sizes: Sequence[int], node: int | None = None) -> list[Foretold]:
    """Return the predictions for each size. `node` is the number of workers per node, if known."""
    for size in sizes:
        check(study, size)
    count = len(study.sizes)
    fits = fitting.all_fits(study, node)
    noise = fitting.noise_of(study, fits)
    worst = min(fit.residual for fit in fits) ** 2 + WORSE * noise**2 / count
    grids = [fitting.every_fit(fit.form, study, noise, sizes) for fit in fits]
    costs, scores = (np.concatenate(parts) for parts in zip(*grids, strict=True))
    level = fitting.NORMAL_TAIL * noise / math.sqrt(count)
    predictions = []
    for i, size in enumerate(sizes):
        low, high = fitting.middle_of(costs[:, i], scores)
        laws = []
        for fit, (own, score) in zip(fits, grids, strict=True):
            best, describes = fit.log_cost(size), fit.residual**2 <= worst
            # With as many coefficients as sizes, a law would describe anything.
            if describes and len(fit.coefficients) < count:
                low, high = min(low, best), max(high, best)
            ends = fitting.middle_of(own[:, i], score)
            cheap, dear = min(best, ends[0] - level), max(best, ends[1] + level)
            gains = (study.speedup(size, cost) for cost in (best, dear, cheap))
            laws.append(Said(fit, describes, *gains))
        low, high = widened(study, size, low, high, noise, node)
        few, many = study.speedup(size, high), study.speedup(size, low)
        predictions.append(Foretold(size, few, many, tuple(laws)))
    return predictions


def widened(
    study: Study, size: int, low: float, high: float, noise: float, node: int | None
) -> tuple[float, float]:
    """Return the bounds of a log cost, widened for effects that no law describes.

    Neither bound is below the lowest measured cost, unless the speedup is superlinear.
    """
    doublings = max(0.0, math.log2(size / study.sizes[-1]))
    unknown = PER_DOUBLING * math.sqrt(doublings)
    last = study.costs[-1]
    if doublings:
        more = max(0.0, high - last)
        # The extra costs never increase the time beyond that of the largest size.
        added = max(0.0, min(MORE * more, doublings * math.log(2) - more))
        low -= LESS * max(0.0, low - last)
        high += added + beyond_the_node(study, size, node)
        high = max(high, last)  # a cost that has fallen so far may stop falling
    low -= fitting.NORMAL_TAIL * noise + unknown
    high += fitting.NORMAL_TAIL * noise + unknown
    ideal = min(study.costs)
    if study.superlinear():
        ideal -= 2 * (noise + unknown) + AGAIN
        low -= AGAIN
    return max(low, ideal), max(high, ideal)


def beyond_the_node(study: Study, size: int, node: int | None) -> float:
    last = study.sizes[-1]
    if node is not None:
        return NETWORK if last <= node < size else 0.0
    if last > USUAL_NODE:
        return 0.0
    return MAYBE_NETWORK if size > USUAL_NODE else MAYBE_NODE
