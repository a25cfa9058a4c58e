"""Test rates.py: do your rates, updates and LARS follow their formulas?

python probe.py

Nothing here is to be filled in. The formulas are written down once more, and compared with your
functions on random numbers.
"""

import math

import numpy as np

from lessons.toolkit.probes.on_ranks import run_tests
from lessons.toolkit.record import Run

import rates
import train

DECAYS = {  # the rate after a fraction of the decay, relative to its peak
    "none": lambda done: 1.0,
    "cosine": lambda done: (1 + math.cos(math.pi * done)) / 2,
    "exponential": lambda done: 0.01**done,
}
SHAPES = ((5, 4), (4,), (3,))
rng = np.random.default_rng()


def arrays():
    return [rng.normal(size=shape) for shape in SHAPES]


def error(found, right):
    """Return the distance of two lists of arrays, relative to the length of the second."""
    found, right = (np.concatenate([np.ravel(each) for each in both]) for both in (found, right))
    return float(np.linalg.norm(found - right) / np.linalg.norm(right))


def update_in_two_steps():
    params, speeds = arrays(), arrays()
    right, right_speeds = [w.copy() for w in params], [speed.copy() for speed in speeds]
    for lr, momentum in rng.uniform(0.1, 0.9, (2, 2)):
        gradients = arrays()
        rates.update(params, [g.copy() for g in gradients], speeds, lr, momentum)
        right_speeds = [momentum * s + g for s, g in zip(right_speeds, gradients, strict=True)]
        right = [w - lr * s for w, s in zip(right, right_speeds, strict=True)]
    yield "update_error", error([*params, *speeds], [*right, *right_speeds])


def lars_with_zeros():
    """Scale a layer's gradient; one layer has weights of 0, and one has a gradient of 0."""
    params, gradients, trust = arrays(), arrays(), rng.uniform(0.01, 0.5)
    params[1] *= 0
    gradients[2] *= 0
    factor = trust * np.linalg.norm(params[0]) / np.linalg.norm(gradients[0])
    found = rates.lars(params, [g.copy() for g in gradients], trust)
    yield "lars_error", error(found, [factor * gradients[0], *gradients[1:]])


def rates_of_all_steps():
    base, peak = rng.uniform(0.05, 0.2), rng.uniform(0.5, 2.0)
    warmup, total = int(rng.integers(10, 50)), int(rng.integers(100, 200))
    found, right = [], []
    for decay, fall in DECAYS.items():
        found += [rates.lr_at(step, base, peak, warmup, total, decay) for step in range(total)]
        right += [base + (peak - base) * step / warmup for step in range(warmup)]
        right += [peak * fall(done) for done in np.arange(total - warmup) / (total - warmup)]
    yield "rate_error", error(found, right)


TESTS = {  # with measures that rubrics ask for, and that fail with the test
    update_in_two_steps: ("update_error",),
    lars_with_zeros: ("lars_error",),
    rates_of_all_steps: ("rate_error",),
}


def command_line():
    return train.command_line()  # the job starts both programs with the same options


def main():
    args = command_line().parse_args()
    run_tests(Run("09", args, source="probe"), TESTS)


if __name__ == "__main__":
    main()
