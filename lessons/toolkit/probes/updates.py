"""Test updates of parameters and of learning rates against formulas computed here."""

import math
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from lessons.toolkit.probes.collectives import largest_error
from lessons.toolkit.probes.refusal import tell

Function = Callable[..., Any]


def length_ratio(difference: Any, whole: Any) -> float:
    """Return the ratio of the lengths of two vectors; 0 if there is no difference."""
    above, below = float(np.linalg.norm(difference)), float(np.linalg.norm(whole))
    if above == 0:
        return 0.0
    return above / below if below > 0 else math.inf


def in_one_number(probe: Callable[[Function, np.random.Generator], float]) -> Function:
    """Return the probe's result on random numbers; nan if the function raises an error."""

    @wraps(probe)
    def number(function: Function) -> float:
        try:
            return probe(function, np.random.default_rng())
        except Exception as raised:
            tell(probe.__name__.replace("_", " "), raised)
            return math.nan

    return number


@in_one_number
def update_error(update: Function, rng: np.random.Generator) -> float:
    """Return the error after two steps with momentum.

    speed <- momentum * speed + gradient, w <- w - lr * speed.
    """
    shapes = ((5, 4), (4,))
    params = [rng.normal(size=shape) for shape in shapes]
    speeds = [rng.normal(size=shape) for shape in shapes]
    right, right_speeds = [p.copy() for p in params], [s.copy() for s in speeds]
    for lr, momentum in rng.uniform(0.1, 0.9, (2, 2)):
        gradients = [rng.normal(size=shape) for shape in shapes]
        update(params, [g.copy() for g in gradients], speeds, lr, momentum)
        right_speeds = [momentum * s + g for s, g in zip(right_speeds, gradients, strict=True)]
        right = [p - lr * s for p, s in zip(right, right_speeds, strict=True)]
    return largest_error([*params, *speeds], [*right, *right_speeds])


@in_one_number
def lars_error(lars: Function, rng: np.random.Generator) -> float:
    """Return the error of LARS gradients.

    Each gradient is multiplied by trust * |w| / |gradient|; it is unchanged if one of the two is 0.
    """
    gradients = [rng.normal(size=shape) for shape in ((5, 4), (4,), (3,))]
    params = [rng.normal(size=(5, 4)), np.zeros(4), rng.normal(size=3)]
    gradients[2] *= 0
    trust = rng.uniform(0.01, 0.5)
    factor = trust * np.linalg.norm(params[0]) / np.linalg.norm(gradients[0])
    right = [gradients[0] * factor, *gradients[1:]]
    return largest_error(lars(params, [g.copy() for g in gradients], trust), right)


@in_one_number
def rate_error(lr_at: Function, rng: np.random.Generator) -> float:
    """Return the largest error in the warm-up and in all three decays, relative to the peak."""
    base, peak = rng.uniform(0.05, 0.2), rng.uniform(0.5, 2.0)
    warmup, total = (int(number) for number in rng.integers((10, 100), (50, 200)))
    falls = {
        "none": lambda done: 1.0,
        "cosine": lambda done: (1 + math.cos(math.pi * done)) / 2,
        "exponential": lambda done: 0.01**done,
    }
    found, right = [], []
    for decay, fall in falls.items():
        for step in range(total):
            found.append(float(lr_at(step, base, peak, warmup, total, decay)))
            if step < warmup:
                right.append(base + (peak - base) * step / warmup)
            else:
                right.append(peak * fall((step - warmup) / (total - warmup)))
    return largest_error([found], [right])
