"""Public checks of lesson 01: learning is curve fitting.

Hand-written gradients are compared with central differences of a loss, which is computed here in
float64: (loss(w + e) - loss(w - e)) / 2e.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from lessons.toolkit.checks.shared.check import CheckFailed, Function, exercise, number, shown

E = 1e-6


def differences(loss: Callable[[np.ndarray], float], w: np.ndarray) -> np.ndarray:
    """Estimate the gradient of loss at w by changing each number slightly in turn."""
    result = np.zeros_like(w)
    for place in np.ndindex(w.shape):
        kept = w[place]
        w[place] = kept + E
        above = loss(w)
        w[place] = kept - E
        below = loss(w)
        w[place] = kept
        result[place] = (above - below) / (2 * E)
    return result


def same(found: np.ndarray, right: np.ndarray, tolerance: float = 1e-5) -> bool:
    size = np.abs(right).max()
    return bool(np.abs(found - right).max() <= tolerance * size)


def a_list(value: Any, what: str) -> list[Any]:
    """Return the value, which has to be a list or a tuple, as a list."""
    if not isinstance(value, list | tuple):
        raise CheckFailed(what, f"a {type(value).__name__}", "Collect them in a list, return it.")
    return list(value)


def array(value: Any, name: str, shape: tuple[int, ...], advice: str) -> np.ndarray:
    """Return the value, which has to be an array of this shape."""
    expected = f"{name}: an array of shape {shape}"
    if value is None:
        raise CheckFailed(expected, "None", "Is there a `return` in front of it?")
    if isinstance(value, list | tuple):
        advice = "Put np.array(…) around it: a list cannot be multiplied by a rate."
        raise CheckFailed(expected, f"a {type(value).__name__}", advice)
    found = np.asarray(value, dtype=np.float64)
    if found.shape != shape:
        if found.size == int(np.prod(shape)):
            advice = "It holds the right number of values: transpose or reshape it."
        raise CheckFailed(expected, f"shape {found.shape}", advice)
    return found


def factor(found: np.ndarray, right: np.ndarray) -> float:
    """Return the constant factor between `found` and `right`, or 0 if there is none."""
    times = float((found * right).sum() / (right * right).sum())
    return round(times, 3) if np.isfinite(times) and same(found, times * right) else 0.0


MOVE = (
    "Move w[k] by d: by how much does the polynomial change at x, and by how much its square error?"
)


@exercise("1.1")
def check_1_1(gradient: Function) -> str:
    """gradient(w, x, y) is the formula's gradient of the mean squared error, not a difference."""
    x = np.linspace(-1, 1.2, 7)
    y = np.cos(2 * x)
    for w in (np.array([0.3, -0.7, 0.2, 0.5]), np.array([1.0, 2.0])):
        right = 2 * np.vander(x, len(w), increasing=True).T @ (powers(w, x) - y) / len(x)
        shapes = "Return one number for each of the len(w) parameters, each a mean over the points."
        found = array(gradient(w.copy(), x, y), "gradient(w, x, y)", w.shape, shapes)
        if same(found, right, 1e-12):
            continue
        if same(found, right, 1e-6):
            what, advice = "the slopes of a formula", "Which formula needs no loss at all?"
            raise CheckFailed(what, "differences of losses: two for each slope", advice)
        advice = {
            0.5: "A factor 2 is missing: by how much does a square change?",
            -1.0: "The sign is wrong: the error is prediction - y.",
            7.0: "Divide by the number of points: the loss is a mean.",
        }.get(factor(found, right), MOVE)
        if same(found, right[::-1], 1e-6):
            advice = "The order is reversed: w[0] belongs to x**0, which is 1."
        expected = f"gradient = {np.round(right, 3).tolist()}"
        raise CheckFailed(expected, f"{np.round(found, 3).tolist()}", advice)
    return "Your gradient is the formula's."


def powers(w: np.ndarray, x: np.ndarray) -> np.ndarray:
    return sum((w[k] * x**k for k in range(len(w))), np.zeros_like(x))


@exercise("1.2")
def check_1_2(descend: Function) -> str:
    """On the loss ½·a·w² the path converges at a rate of 1.9/a and diverges at 2.1/a."""
    a, steps = 4.0, 100

    def slope(w: np.ndarray) -> np.ndarray:
        return a * w

    path = descend(slope, np.array([1.0]), 1.9 / a, steps)
    path = a_list(list(path) if isinstance(path, np.ndarray) else path, "a list of all points")
    if len(path) != steps + 1:
        advice = "Put the start into the list first, then one point per step."
        if len(path) == 2:
            advice = "`append` belongs inside the loop, and `return` after it: check the indents."
        elif len(path) == 1:
            advice = "Return all points, not only the last one."
        raise CheckFailed(f"{steps + 1} points for {steps} steps", f"{len(path)}", advice)
    points = np.array([number(np.ravel(w)[0], "a point of the path") for w in path])
    right = (1 - 1.9) ** np.arange(steps + 1)
    if not np.allclose(points, right, atol=1e-9):
        raise CheckFailed(
            f"from 1 to {right[1]:.2f} to {right[2]:.2f} … for a gradient of 4·w, rate 1.9/4",
            " to ".join(f"{point:.3g}" for point in points[:3]) + " …",
            descend_advice(points),
        )
    far = descend(slope, np.array([1.0]), 2.1 / a, steps)
    if not abs(number(np.ravel(far[-1])[0], "the last point")) > 1000:
        advice = "Use the argument `lr` as the rate, and take all the steps."
        raise CheckFailed("at 2.1/a the path goes to infinity", shown(far[-1]), advice)
    return "At 1.9/a the path converges, at 2.1/a it diverges."


def descend_advice(points: np.ndarray) -> str:
    if (points == points[0]).all():
        return (
            "All points are equal. Does w move at all? If it does: `w -= …` changes the array that "
            "is already in the list."
        )
    if points[1] > 1:
        return "This goes uphill: step against the gradient."
    if np.allclose(points[1], 1 - 4.0):
        return "The rate is missing: multiply the gradient by lr."
    if np.allclose(np.diff(points), np.diff(points)[0]):
        return "Every step is the same: the gradient belongs to the point where you are."
    return (
        "The first point is the start itself. The second one is the first, minus rate times slope."
    )


@exercise("1.3")
def check_1_3(forward: Function, backward: Function) -> str:
    """backward(cache, labels) gives four gradients; each equals central differences to 1e-5."""
    rng = np.random.default_rng(3)
    params = [rng.normal(size=shape) for shape in ((5, 4), (4,), (4, 3), (3,))]
    names = ("w1", "b1", "w2", "b2")
    x, labels = rng.normal(size=(6, 5)), np.array([0, 2, 1, 1, 0, 2])
    _, cache = forward(params, x)
    before = [np.copy(part) for part in cache]

    four = "four arrays: the gradients of w1, b1, w2, b2"
    found = a_list(backward(cache, labels), four)
    if len(found) != 4:
        raise CheckFailed(four, len(found), "Return [d_w1, d_b1, d_w2, d_b2], in this order.")
    if not all(np.array_equal(old, new) for old, new in zip(before, cache, strict=True)):
        advice = "Work on a copy: `probabilities.copy()`. The loop still needs the original."
        raise CheckFailed("backward does not change the cache", "it does", advice)

    def loss(_: Any) -> float:
        now, _ = forward(params, x)
        return float(-np.log(now[np.arange(6), labels]).mean())

    for place in (3, 2, 1, 0):  # in the order of the backward pass
        name, param = names[place], params[place]
        advice = "Is the order w1, b1, w2, b2? Sum the gradients of b1 and b2 over the images."
        gradient = array(found[place], f"gradient of {name}", param.shape, advice)
        right = differences(loss, param)
        if not same(gradient, right):
            error = np.abs(gradient - right).max() / np.abs(right).max()
            raise CheckFailed(
                f"gradient of {name} as central differences, relative error < 1e-5",
                f"relative error {error:.2g}",
                BACKWARD.get(factor(gradient, right), BACKWARD[name]),
            )
    return "All four gradients match central differences (float64, relative error < 1e-5)."


# Advice for a gradient that is a multiple of the right one, and for each wrong gradient.
BACKWARD: dict[float | str, str] = {
    6: "The sum over the images has to become a mean: divide by len(labels).",
    -1: "The sign is wrong: with respect to the scores it is probability minus one-hot.",
    "b2": "Begin with d_scores: is it right for every image, and is it a mean? Then b2 is its sum.",
    "w2": "b2 is right. Which product of `hidden` and `d_scores` has the shape of w2?",
    "b1": "b2 and w2 are right. Which slopes does relu let through on the way to b1?",
    "w1": "Only w1 is wrong. It is to x what w2 is to `hidden`.",
}


@exercise("1.4")
def check_1_4(minibatches: Function) -> str:
    """minibatches(n, batch, rng): ceil(n/batch) batches, each index once, a new order each time."""
    rng = np.random.default_rng(5)
    for n, batch in ((10, 3), (12, 4), (5, 8), (1000, 32)):
        found = [
            np.asarray(part)
            for part in a_list(minibatches(n, batch, rng), "a list of index arrays")
        ]
        sizes = [part.size for part in found]
        if sizes != [min(batch, n - first) for first in range(0, n, batch)]:
            advice = "Cut at 0, batch, 2·batch …: range(0, n, batch)."
            if sizes == [batch] * (n // batch):
                advice = "The last, smaller batch is missing: no image may be left out."
            expected = f"{n} indices in {-(-n // batch)} batches, at most {batch} in each"
            raise CheckFailed(expected, f"{len(sizes)} batches of {sizes[:4]} …", advice)
        lost = n - len(np.unique(np.concatenate(found)))
        if lost:
            raise CheckFailed(
                "each of the indices 0 … n-1 exactly once",
                f"{lost} of {n} indices are missing, others occur twice",
                "Do it by hand for 10 indices in batches of 3: from which shuffle is each batch?",
            )
    first, second = (np.concatenate(minibatches(1000, 32, rng)) for _ in range(2))
    if np.array_equal(first, np.arange(1000)):
        advice = "These batches are neighbours in the file. Where is chance in your function?"
        raise CheckFailed("a random order", "0, 1, 2, 3 …", advice)
    if np.mean(np.diff(first) == 1) > 0.5:
        advice = "A rotation, or a shuffle of whole batches, leaves neighbours together."
        raise CheckFailed("a random order", "most images follow their neighbour", advice)
    if np.array_equal(first, second):
        advice = "Use the argument rng; do not make a new one with the same seed in each call."
        raise CheckFailed("another order at the next call", "the same order twice", advice)
    again = [np.concatenate(minibatches(50, 8, np.random.default_rng(1))) for _ in range(2)]
    if not np.array_equal(again[0], again[1]):
        advice = "Take random numbers from `rng` only, not from np.random."
        raise CheckFailed("one order for one seed of rng", "two different orders", advice)
    return "Each image once, in a new order each epoch."


@exercise("1.5")
def check_1_5(update: Function) -> str:
    """update(params, gradients, lr) moves each array against its gradient, in place."""
    params = [np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([5.0, 6.0])]
    gradients = [np.array([[1.0, 0.0], [0.0, -1.0]]), np.array([10.0, 20.0])]
    starts, slopes = ([np.copy(part) for part in parts] for parts in (params, gradients))
    update(params, gradients, 0.1)
    expected = "1 with gradient 1 becomes 0.9 at a rate of 0.1"
    moved = [new - old for new, old in zip(params, starts, strict=True)]
    if not all(np.array_equal(a, b) for a, b in zip(gradients, slopes, strict=True)):
        advice = "Change the parameters and leave the gradients as they are."
        raise CheckFailed("gradients stay", "gradients were changed", advice)
    if not any(part.any() for part in moved):
        advice = "A minus makes a new array. How does 1.2 say that an array changes in place?"
        raise CheckFailed(expected, "nothing changed", advice)
    if not all(np.allclose(a, -0.1 * b) for a, b in zip(moved, slopes, strict=True)):
        times = moved[0][0, 0]
        advice = "Each array: old minus rate times slope, in place."
        if not moved[1].any():
            advice = "Only the first array changed. Change all of them."
        elif times > 0:
            advice = "That is uphill."
        elif abs(times + 1) < 1e-9:
            advice = "The rate is missing."
        raise CheckFailed(expected, f"1 became {params[0][0, 0]:.3g}", advice)
    before = params[1].copy()
    update(params, gradients, 0.375)
    if not np.allclose(before - params[1], 0.375 * slopes[1]):
        found = f"{(before - params[1]) / slopes[1]} times the gradient"
        raise CheckFailed("then 0.375 times the gradient, at a rate of 0.375", found, "Use lr.")
    return "Every parameter takes a small step downhill."
