"""Fit a law to a study, with noise, and predict any size as an interval.

The deviation of a point from a law is proportional to its value, so all distances are relative. The
best fit is the least-squares fit without negative coefficients. The interval comes from all fits on
a grid. Each fit is weighted by how well it matches the points, assuming normal noise and equally
likely overheads of 0.1 %, 1 % and 10 %. A law with two free numbers and three points therefore has
a wide interval.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from autograder.measuring.interval import NotMeasured
from autograder.measuring.laws.forms import FORMS, Array, Form, stepped

KINDS = ("strong", "epoch", "weak")
# Workers; a larger number means that another column was mistaken for the sizes.
MOST_SIZES = 10_000_000


@dataclass(frozen=True, slots=True)
class Study:
    """Sizes in increasing order, with the log cost of each (the median over its repeats).

    The cost of work is workers × time. Ideal scaling leaves it unchanged, so the laws need no other
    quantity. The same runs give the same study in seconds, hours or images per second.
    """

    sizes: tuple[int, ...]
    costs: tuple[float, ...]
    repeats: tuple[int, ...]
    spread: float | None  # standard deviation of the repeats' logarithms, over all sizes

    def speedup(self, size: int, log_cost: float) -> float:
        """Return the speedup at a size, relative to the smallest size, for this log cost."""
        return size / self.sizes[0] * math.exp(self.costs[0] - log_cost)

    @property
    def speedups(self) -> list[float]:
        """Return the speedup of each size relative to the smallest."""
        return [self.speedup(*point) for point in zip(self.sizes, self.costs, strict=True)]

    def superlinear(self) -> bool:
        """Return whether work costs less at some size than on the fewest workers.

        Differences within rounding do not count.
        """
        return min(self.costs) < self.costs[0] - 1e-9


def of_times(sizes: Sequence[int], times: Sequence[float], kind: str = "strong") -> Study:
    """Return a study of times for the same work (strong, epoch), or for work that grows (weak)."""
    if kind not in KINDS:
        raise ValueError(f"scaling is {', '.join(KINDS)}; not {kind}")
    grows = kind == "weak"
    return gathered(sizes, [t if grows else n * t for n, t in checked(sizes, times)])


def of_rates(sizes: Sequence[int], rates: Sequence[float]) -> Study:
    """Return the study for the total throughput of all workers, for any kind of scaling."""
    return gathered(sizes, [n / r for n, r in checked(sizes, rates)])


def checked(sizes: Sequence[int], values: Sequence[float]) -> list[tuple[int, float]]:
    pairs = list(zip(sizes, values, strict=True))
    for size, value in pairs:
        if size != int(size) or not 1 <= size <= MOST_SIZES:
            raise NotMeasured(f"a size is a whole number from 1 to {MOST_SIZES:,}; not {size:g}")
        if not 1e-12 < value < 1e15:  # also excludes values that are not numbers
            raise NotMeasured(
                f"the value on {int(size):,} workers has to be above 0, but is {value:g}"
            )
    return pairs


def gathered(sizes: Sequence[int], costs: Sequence[float]) -> Study:
    by_size: dict[int, list[float]] = {}
    for size, cost in sorted(zip(sizes, costs, strict=True)):
        by_size.setdefault(int(size), []).append(math.log(cost))
    repeated = [values for values in by_size.values() if len(values) > 1]
    freedom = sum(len(values) - 1 for values in repeated)
    squares = sum(float(np.var(values)) * len(values) for values in repeated)
    return Study(
        tuple(by_size),
        tuple(float(np.median(values)) for values in by_size.values()),
        tuple(len(values) for values in by_size.values()),
        math.sqrt(squares / freedom) if freedom else None,
    )


# --- the best fit of a law ---------------------------------------------------------------------

# Relative noise of a published point, and its weight in points.
USUAL_NOISE, USUAL_WEIGHT = 0.02, 3.0
LOW_TAIL, HIGH_TAIL = 0.02, 0.03  # probability left out below the low end and above the high end
NORMAL_TAIL = 1.645


@dataclass(frozen=True, slots=True)
class Fit:
    """A form's best fit. `residual` is the root mean square of its relative distances."""

    form: Form
    coefficients: tuple[float, ...]
    residual: float

    def log_cost(self, size: int) -> float:
        at = np.array([float(size)])
        return float(log_costs(self.form, np.array([self.coefficients]), at)[0, 0])

    @property
    def parameters(self) -> dict[str, float]:
        return dict(self.form.named(np.asarray(self.coefficients)))


def columns(form: Form, n: Array) -> Array:
    """Return a matrix of the form's terms at each size, with one column per term."""
    return np.stack([np.ones_like(n), *(term(n) for term in form.terms)], axis=1)


def log_costs(form: Form, k: Array, n: Array) -> Array:
    """Return the logarithm of the cost: a row per set of coefficients, a column per size."""
    if form.kind == "power":
        return k[:, :1] + k[:, 1:] * np.log(n)
    linear = k @ columns(form, n).T
    with np.errstate(divide="ignore"):
        return np.log(n) - np.log(linear) if form.kind == "speed" else np.log(linear)


def best_fit(form: Form, study: Study) -> Fit:
    n, logs = np.asarray(study.sizes, float), np.asarray(study.costs)
    if form.kind == "power":
        slope, start = np.polyfit(np.log(n), logs, 1)
        if slope < 0 and not study.superlinear():
            slope, start = 0.0, logs.mean()
        k = np.array([start, slope])
    elif form.kind == "speed":
        k = not_negative(columns(form, n) * (np.exp(logs) / n)[:, None])
    else:
        k = not_negative(columns(form, n) / np.exp(logs)[:, None])
    off = log_costs(form, k[None], n)[0] - logs
    return Fit(form, tuple(map(float, k)), float(np.sqrt(np.mean(off**2))))


def not_negative(rows: Array) -> Array:
    """Return the k ≥ 0 that minimises |rows · k − 1|².

    All choices of nonzero coefficients are tried.
    """
    scale = rows.max(axis=0)
    scale[scale == 0] = 1
    rows = rows / scale
    found = [np.zeros(rows.shape[1])]
    for used in filter(any, itertools.product((False, True), repeat=rows.shape[1])):
        k = np.zeros(rows.shape[1])
        k[np.array(used)] = np.linalg.lstsq(rows[:, used], np.ones(len(rows)), rcond=None)[0]
        if (k >= 0).all() and (rows @ k > 0).all():
            found.append(k)
    best = min(found, key=lambda k: (round(float(np.sum((rows @ k - 1) ** 2)), 15), sum(k > 0)))
    return best / scale


def noise_of(study: Study, fits: Sequence[Fit]) -> float:
    """Return the relative noise of a measured point.

    The noise is estimated from repeats, unexplained differences and the usual value.
    """
    count = len(study.sizes)
    unexplained = min(fit.residual for fit in fits) ** 2 * count
    freedom = max(0, count - 2)
    usual, weight = USUAL_NOISE, USUAL_WEIGHT
    if study.spread is not None:
        usual = max(0.005, study.spread / math.sqrt(np.median(study.repeats)) * 1.25)
        weight = 2 * USUAL_WEIGHT
    return math.sqrt((weight * usual**2 + unexplained) / (weight + freedom))


# --- all fits that the points allow --------------------------------------------------------------

SHARES = np.concatenate([[0.0], np.logspace(-4, 0, 90)])
FEWER = np.concatenate([[0.0], np.logspace(-4, 0, 40)])
SLOPES = np.concatenate([[0.0], np.logspace(-3.5, 0.1, 90)])


def candidates(form: Form, study: Study) -> Array:
    """Return candidate coefficients, one set per row.

    Each coefficient is a fraction of the cost at the largest size.
    """
    if form.kind == "power":
        falling = -SLOPES[SLOPES < 0.3] if study.superlinear() else SLOPES[:0]
        slopes = np.concatenate([falling, SLOPES])
        return np.stack([np.zeros_like(slopes), slopes], axis=1)
    last = columns(form, np.asarray(study.sizes[-1:], float))[0]
    if last.size == 2:
        parts = np.stack([1 - SHARES, SHARES], axis=1)
    else:
        one, two = (grid.ravel() for grid in np.meshgrid(FEWER, FEWER))
        parts = np.stack([1 - one - two, one, two], axis=1)
        parts = parts[parts[:, 0] >= 0]
    return parts / last


def every_fit(form: Form, study: Study, noise: float, at: Sequence[int]) -> tuple[Array, Array]:
    """Return, for all fits on the grid, the log costs at the sizes `at` and the log likelihoods."""
    k = candidates(form, study)
    here, beyond = (log_costs(form, k, np.asarray(n, float)) for n in (study.sizes, at))
    usable = np.isfinite(here).all(axis=1) & np.isfinite(beyond).all(axis=1)
    here, beyond = here[usable], beyond[usable]
    off = np.asarray(study.costs) - here
    level = off.mean(axis=1)[:, None]
    scores = -0.5 * np.sum((off - level) ** 2, axis=1) / noise**2
    return beyond + level, scores - math.log(len(scores))


def middle_of(values: Array, scores: Array) -> tuple[float, float]:
    """Return the two values that cut off LOW_TAIL and HIGH_TAIL at the ends of the likelihood."""
    order = np.argsort(values, kind="stable")
    below = np.cumsum(np.exp(scores - scores.max())[order])
    below /= below[-1]
    low, high = np.searchsorted(below, [LOW_TAIL, 1 - HIGH_TAIL])
    return float(values[order[low]]), float(values[order[min(high, values.size - 1)]])


USUAL_NODES = (4, 8)


def all_fits(study: Study, node: int | None) -> list[Fit]:
    """Return the fits of all laws, including laws with a step at the known or usual node sizes."""
    forms = list(FORMS)
    for size in USUAL_NODES if node is None else (node,):
        if study.sizes[0] <= size < study.sizes[-1]:
            forms += stepped(size)
    return [best_fit(form, study) for form in forms]
