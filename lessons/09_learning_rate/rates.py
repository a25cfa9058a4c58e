"""Rates, schedules and updates for large batches, which are independent of workers."""

import math

import numpy as np

RULES = ("same", "sqrt", "linear")  # how the rate grows with the number of workers
DECAYS = ("none", "cosine", "exponential")  # how it falls after the warm-up


def scaled(lr, workers, rule):
    """Return the rate for `workers` times the batch; rule: "same", "sqrt" or "linear"."""
    raise NotImplementedError("Exercise 9.1: the rate for each of the three rules")


def lr_at(step, base, peak, warmup, total, decay):
    """Return the rate of a step: in `warmup` steps from base to peak, then as `decay` says.

    "none": peak. "cosine": half a cosine, down to 0. "exponential": down to a hundredth of peak.
    """
    raise NotImplementedError("Exercise 9.2: the line, then peak times 1 or what the lesson says")


def update(params, gradients, speeds, lr, momentum):
    """Update in place: speed <- momentum * speed + gradient; w <- w - lr * speed."""
    raise NotImplementedError("Exercise 9.3: first the speeds, then the parameters")


def lars(params, gradients, trust):
    """Return each layer's gradient times trust * |w| / |gradient|, unless one of them is 0."""
    raise NotImplementedError(
        "Exercise 9.3: a list of gradients, each as long as trust times its weights"
    )


def setting(task):
    """Return (rate, momentum) of a job array's task: 4 rates times 2 momenta, tasks 0 to 7."""
    rates = (0.03, 0.1, 0.3, 1.0)
    momenta = (0.0, 0.9)
    raise NotImplementedError("Exercise 9.5: one number, 0 to 7, chooses from two lists")
