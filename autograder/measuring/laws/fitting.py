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

from autograder.measuring.laws.forms import FORMS, Array, Form, stepped
from autograder.measuring.laws.study import Study

# Relative noise of a published point, and its weight in points.
USUAL_NOISE, USUAL_WEIGHT = 0.02, 3.0
LOW_TAIL, HIGH_TAIL = 0.02, 0.03  # probability left out below the low end and above the high end
NORMAL_TAIL = 1.645
# A law describes the data worse if its squared distances sum to this much more than the best.
WORSE = 6.0


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
    middle = float(logs.mean())
    y = np.exp(logs - middle)
    if form.kind == "power":
        slope = float(np.polyfit(np.log(n), logs - middle, 1)[0])
        slope = slope if study.superlinear() else max(0.0, slope)
        k = np.array([middle - slope * np.log(n).mean(), slope])
    elif form.kind == "speed":
        k = not_negative(columns(form, n) * (y / n)[:, None]) / math.exp(middle)
    else:
        k = not_negative(columns(form, n) / y[:, None]) * math.exp(middle)
    off = log_costs(form, k[None], n)[0] - logs
    return Fit(form, tuple(map(float, k)), float(np.sqrt(np.mean(off**2))))


def not_negative(rows: Array) -> Array:
    """Return the k ≥ 0 that minimises |rows · k − 1|².

    All choices of nonzero coefficients are tried.
    """
    scale = rows.max(axis=0)
    scale[scale == 0] = 1
    rows = rows / scale
    count = rows.shape[1]
    best, found = math.inf, np.zeros(count)
    for many in range(1, count + 1):
        for chosen in itertools.combinations(range(count), many):
            some = np.linalg.lstsq(rows[:, chosen], np.ones(len(rows)), rcond=None)[0]
            if (some < 0).any() or (rows[:, chosen] @ some <= 0).any():
                continue
            k = np.zeros(count)
            k[list(chosen)] = some
            off = float(np.sum((rows @ k - 1) ** 2))
            if off < best - 1e-15:
                best, found = off, k
    return found / scale


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
    nodes = USUAL_NODES if node is None else (node,)
    steps = [
        form for one in nodes if study.sizes[0] <= one < study.sizes[-1] for form in stepped(one)
    ]
    return [best_fit(form, study) for form in (*FORMS, *steps)]


def describing(study: Study, fits: Sequence[Fit], noise: float) -> list[bool]:
    """Return, for each law, whether it fits nearly as well as the best one."""
    count = len(study.sizes)
    distances = [fit.residual**2 * count / noise**2 for fit in fits]
    return [distance <= min(distances) + WORSE for distance in distances]
