"""Test hand-written gradients and steps against the toolkit's own computation."""

from collections.abc import Callable
from typing import Any

import numpy as np

from lessons.toolkit.probes.refusal import tell

E = 1e-6  # a step of the central differences
INPUTS, HIDDEN, OUTPUTS, IMAGES = 12, 9, 5, 7


def gradient_error(
    forward: Callable[..., Any], loss: Callable[..., Any], backward: Callable[..., Any]
) -> float:
    """Return the error of a small network's gradients.

    The gradients are compared with central differences of the loss. Each array's error is relative
    to its largest value. The result is the error of the worst array; 1 means completely wrong.
    """
    rng = np.random.default_rng(1)
    shapes = [(INPUTS, HIDDEN), (HIDDEN,), (HIDDEN, OUTPUTS), (OUTPUTS,)]
    params = [rng.normal(size=shape) for shape in shapes]
    x, labels = rng.normal(size=(IMAGES, INPUTS)), rng.integers(0, OUTPUTS, IMAGES)
    try:
        found = backward(forward(params, x)[1], labels)
    except Exception as raised:
        tell("the gradient's error", raised)
        return 1.0

    def difference(param: Any, place: tuple[int, ...]) -> float:
        kept, sides = param[place], []
        for value in (kept + E, kept - E):
            param[place] = value
            sides.append(loss(forward(params, x)[0], labels))
        param[place] = kept
        return float(sides[0] - sides[1]) / (2 * E)

    right = [np.zeros_like(param) for param in params]
    for param, gradient in zip(params, right, strict=True):
        for place in np.ndindex(param.shape):
            gradient[place] = difference(param, place)
    return error(found, right)


def descent_error(update: Callable[..., Any]) -> float:
    """Return the parameters' error after one step of gradient descent.

    1 means the same parameters as without the step.
    """
    rng = np.random.default_rng(2)
    before = [rng.normal(size=shape) for shape in [(4, 3), (3,), (3, 2), (2,)]]
    gradients = [rng.normal(size=param.shape) for param in before]
    params = [param.copy() for param in before]
    rate = 0.375  # a value that nobody would choose
    try:
        update(params, [gradient.copy() for gradient in gradients], rate)
    except Exception as raised:
        tell("the step's error", raised)
        return 1.0
    went = [now - then for now, then in zip(params, before, strict=True)]
    return error(went, [-rate * gradient for gradient in gradients])


def error(found: Any, right: list[Any]) -> float:
    """Return the largest error in an array, relative to the largest correct value; at most 1."""
    if not isinstance(found, list | tuple) or len(found) != len(right):
        return 1.0
    shares = []
    for given, true in zip(found, right, strict=True):
        try:
            values = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError):
            return 1.0
        if values.shape != true.shape or not np.isfinite(values).all():
            return 1.0
        shares.append(float(np.abs(values - true).max() / np.abs(true).max()))
    return min(1.0, max(shares))
