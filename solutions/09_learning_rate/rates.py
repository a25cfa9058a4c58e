"""Rates, schedules and updates for large batches, which are independent of workers."""

import math

import numpy as np

RULES = ("same", "sqrt", "linear")  # how the rate grows with the number of workers
DECAYS = ("none", "cosine", "exponential")  # how it falls after the warm-up


def scaled(lr, workers, rule):
    """Return the rate for `workers` times the batch; rule: "same", "sqrt" or "linear"."""
    ### BEGIN SOLUTION Exercise 9.1: the rate for each of the three rules
    return lr * {"same": 1, "sqrt": math.sqrt(workers), "linear": workers}[rule]
    ### END SOLUTION


def lr_at(step, base, peak, warmup, total, decay):
    """Return the rate of a step: in `warmup` steps from base to peak, then as `decay` says.

    "none": peak. "cosine": half a cosine, down to 0. "exponential": down to a hundredth of peak.
    """
    ### BEGIN SOLUTION Exercise 9.2: the line, then peak times 1 or what the lesson says
    if step < warmup:
        return base + (peak - base) * step / warmup
    done = (step - warmup) / (total - warmup)
    if decay == "cosine":
        return peak * (1 + math.cos(math.pi * done)) / 2
    if decay == "exponential":
        return peak * 0.01**done
    return peak
    ### END SOLUTION


def update(params, gradients, speeds, lr, momentum):
    """Update in place: speed <- momentum * speed + gradient; w <- w - lr * speed."""
    ### BEGIN SOLUTION Exercise 9.3: first the speeds, then the parameters
    for param, gradient, speed in zip(params, gradients, speeds, strict=True):
        speed *= momentum
        speed += gradient
        param -= lr * speed
    ### END SOLUTION


def lars(params, gradients, trust):
    """Return each layer's gradient times trust * |w| / |gradient|, unless one of them is 0."""
    ### BEGIN SOLUTION Exercise 9.3: a list of gradients, each as long as trust times its weights
    result = []
    for param, gradient in zip(params, gradients, strict=True):
        w = np.linalg.norm(param)
        g = np.linalg.norm(gradient)
        result.append(gradient * (trust * w / g) if w > 0 and g > 0 else gradient)
    return result
    ### END SOLUTION


def setting(task):
    """Return (rate, momentum) of a job array's task: 4 rates times 2 momenta, tasks 0 to 7."""
    rates = (0.03, 0.1, 0.3, 1.0)
    momenta = (0.0, 0.9)
    ### BEGIN SOLUTION Exercise 9.5: one number, 0 to 7, chooses from two lists
    return rates[task // 2], momenta[task % 2]
    ### END SOLUTION
