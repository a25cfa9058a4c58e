"""Public checks of lesson 01: learning is curve fitting.

Hand-written gradients are compared with central differences of a loss, which is computed here in
float64: (loss(w + e) - loss(w - e)) / 2e.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from lessons.toolkit.checks.shared.check import CheckFailed, exercise, number, shown

Function = Callable[..., Any]
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


def array(value: Any, name: str, shape: tuple[int, ...], advice: str) -> np.ndarray:
    """Return the value as an array of this shape."""
    expected = f"{name}: an array of shape {shape}"
    if value is None:
        raise CheckFailed(expected, "None", "Is there a `return` in front of it?")
    try:
        found = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise CheckFailed(expected, shown(value), "Return numbers in one array.") from None
    if found.shape != shape:
        if found.size == int(np.prod(shape)):
            advice = "It holds the right number of values: transpose or reshape it."
        raise CheckFailed(expected, f"shape {found.shape}", advice)
    return found


def factor(found: np.ndarray, right: np.ndarray) -> float | None:
    """Return the constant factor between `found` and `right`, or None if there is none."""
    if not np.isfinite(found).all():
        return None
    times = float((found * right).sum() / (right * right).sum())
    return times if times and same(found, times * right) else None


@exercise("1.1")
def check_1_1(gradient: Function) -> str:
    """gradient(w, x, y) of the mean squared error equals central differences to 1e-6."""
    x = np.linspace(-1, 1.2, 7)
    y = np.cos(2 * x)
    for w in (np.array([0.3, -0.7, 0.2, 0.5]), np.array([1.0, 2.0])):
        right = differences(lambda w: float(np.mean((powers(w, x) - y) ** 2)), w)
        given = gradient(w.copy(), x, y)
        if isinstance(given, list | tuple):
            raise CheckFailed(
                f"gradient(w, x, y): an array of shape {w.shape}",
                f"a {type(given).__name__}",
                "Put np.array(…) around it: a list cannot be multiplied by a rate.",
            )
        shapes = "Return one number for each of the len(w) parameters, each a mean over the points."
        found = array(given, "gradient(w, x, y)", w.shape, shapes)
        if same(found, right, 1e-6):
            continue
        times = factor(found, right)
        advice = {
            0.5: "A factor 2 is missing: the derivative of (p - y)² is 2 (p - y) · dp/dw.",
            -1.0: "The sign is wrong: the error is prediction - y.",
            7.0: "Divide by the number of points: the loss is a mean.",
            3.5: "The factor 2 is missing, and the loss is a mean: divide by len(x).",
        }.get(round(times, 3) if times else 0.0)
        if advice is None:
            advice = "For w[k], take the mean over the points of 2 · (prediction - y) · x**k."
            if same(found, right[::-1], 1e-6):
                advice = "The order is reversed: w[0] belongs to x**0, which is 1."
        raise CheckFailed(
            f"gradient = {np.round(right, 3).tolist()}, by central differences",
            f"{np.round(found, 3).tolist()}",
            advice,
        )
    return "Your gradient equals central differences to 1e-6."


def powers(w: np.ndarray, x: np.ndarray) -> np.ndarray:
    return sum((w[k] * x**k for k in range(len(w))), np.zeros_like(x))


@exercise("1.2")
def check_1_2(descend: Function) -> str:
    """On the loss ½·a·w² the path converges at a rate of 1.9/a and diverges at 2.1/a."""
    a, steps = 4.0, 100
    signature = (
        "descend(gradient, w, lr, steps) returns the list of all points, including the start"
    )

    def slope(w: np.ndarray, *more: Any) -> np.ndarray:
        if more:
            raise CheckFailed(
                "gradient(w), of one argument",
                f"gradient called with {1 + len(more)} arguments",
                "Here `gradient` is the function that was passed to descend: call it with w only.",
            )
        return a * w

    path = descend(slope, np.array([1.0]), 1.9 / a, steps)
    if path is None:
        raise CheckFailed(signature, "None", "Is there a `return path`?")
    if not isinstance(path, list | tuple | np.ndarray) or np.ndim(path) == 0:
        raise CheckFailed(signature, shown(path), "Collect the points in a list and return it.")
    if len(path) == 1 and steps > 1:
        raise CheckFailed(signature, "one point", "Return all points, not only the last one.")
    if len(path) != steps + 1:
        advice = "Put the start into the list first, then one point per step."
        if len(path) == 2:
            advice = "`append` belongs inside the loop, and `return` after it: check the indents."
        raise CheckFailed(
            f"{steps + 1} points for {steps} steps: {signature}", f"{len(path)} points", advice
        )
    points = np.array([number(np.ravel(w)[0], "a point of the path") for w in path])
    right = (1 - 1.9) ** np.arange(steps + 1)
    if not np.allclose(points, right, atol=1e-9):
        raise CheckFailed(
            f"from 1 to {right[1]:.2f} to {right[2]:.2f} … for a gradient of 4·w, rate 1.9/4",
            " to ".join(f"{point:.3g}" for point in points[:3]) + " …",
            descend_advice(points, right),
        )
    far = descend(slope, np.array([1.0]), 2.1 / a, steps)
    if not abs(number(np.ravel(far[-1])[0], "the last point")) > 1000:
        advice = "Use the argument `lr` as the rate, and take all the steps."
        raise CheckFailed("at 2.1/a the path goes to infinity", shown(far[-1]), advice)
    return "At 1.9/a the path converges, at 2.1/a it diverges."


def descend_advice(points: np.ndarray, right: np.ndarray) -> str:
    if (points == points[0]).all():
        return (
            "All points are equal: `w -= …` changes the array that is already in the list. "
            "Write `w = w - lr * gradient(w)`, or store a copy."
        )
    if points[1] > 1:
        return "Step against the gradient: w - lr * gradient, with a minus."
    if np.allclose(points[1], 1 - 4.0):
        return "The rate is missing: multiply the gradient by lr."
    if np.allclose(points[:-1], right[1:]):
        return "The start itself is missing: it is the first point of the path."
    if np.allclose(np.diff(points[1:]), np.diff(points[1:])[0]):
        return "Compute the gradient at each new point: gradient(w) belongs in the loop."
    return "In each step, compute w = w - lr * gradient(w)."


@exercise("1.3")
def check_1_3(forward: Function, backward: Function) -> str:
    """backward(cache, labels) gives four gradients; each equals central differences to 1e-5."""
    rng = np.random.default_rng(3)
    params = [rng.normal(size=shape) for shape in ((5, 4), (4,), (4, 3), (3,))]
    names = ("w1", "b1", "w2", "b2")
    x, labels = rng.normal(size=(6, 5)), np.array([0, 2, 1, 1, 0, 2])
    _, cache = forward(params, x)
    before = [np.copy(part) for part in cache]

    found = backward(cache, labels)
    four = "four arrays: the gradients of w1, b1, w2, b2"
    if found is None:
        raise CheckFailed(four, "None", "Is there a `return` in front of it?")
    if not isinstance(found, list | tuple) or len(found) != 4:
        what = f"{len(found)} of them" if isinstance(found, list | tuple) else type(found).__name__
        raise CheckFailed(four, what, "Return [d_w1, d_b1, d_w2, d_b2], in this order.")
    changed = [not np.array_equal(old, new) for old, new in zip(before, cache, strict=True)]
    if any(changed):
        raise CheckFailed(
            "backward does not change the cache",
            f"it changed {('x', 'hidden', 'w2', 'probabilities')[changed.index(True)]}",
            "Work on a copy: `probabilities.copy()`. The loop still needs the original.",
        )

    def loss(_: Any) -> float:
        now, _ = forward(params, x)
        return float(-np.log(now[np.arange(6), labels]).mean())

    for place in (3, 2, 1, 0):  # in the order of the backward pass
        name, param = names[place], params[place]
        advice = (
            "Return them in the order w1, b1, w2, b2. Sum the gradients of b1 and b2 over the "
            "images."
        )
        gradient = array(found[place], f"gradient of {name}", param.shape, advice)
        right = differences(loss, param)
        if not same(gradient, right):
            error = np.abs(gradient - right).max() / np.abs(right).max()
            raise CheckFailed(
                f"gradient of {name} as central differences, relative error < 1e-5",
                f"relative error {error:.2g}",
                backward_advice(name, factor(gradient, right)),
            )
    return "All four gradients match central differences (float64, relative error < 1e-5)."


def backward_advice(name: str, times: float | None) -> str:
    if times is not None and abs(times - 6) < 1e-3:
        return "The sum over the images has to become a mean: divide by len(labels)."
    if times is not None and abs(times + 1) < 1e-3:
        return "The sign is wrong: with respect to the scores it is probability minus one-hot."
    return {
        "b2": "d_scores is (probabilities, minus 1 at the right digit) / n. The gradient of b2 "
        "is the sum of each column.",
        "w2": "The gradient of w2 is hidden.T @ d_scores.",
        "b1": "b2 and w2 are right. d_hidden is d_scores @ w2.T, but 0 where hidden is 0 (relu).",
        "w1": "Only w1 is wrong: its gradient is x.T @ d_hidden.",
    }[name]


@exercise("1.4")
def check_1_4(minibatches: Function) -> str:
    """minibatches(n, batch, rng): ceil(n/batch) batches, each index once, a new order each time."""
    rng = np.random.default_rng(5)
    for n, batch in ((10, 3), (12, 4), (5, 8), (1000, 32)):
        found = minibatches(n, batch, rng)
        if found is None:
            raise CheckFailed("a list of index arrays", "None", "Is there a `return`?")
        if not isinstance(found, list | tuple):
            advice = "Collect all batches in a list, and return the list after the loop."
            raise CheckFailed("a list of index arrays", f"a {type(found).__name__}", advice)
        found = [np.asarray(part) for part in found]
        count = -(-n // batch)
        expected = f"{n} indices in {count} batches, at most {batch} in each"
        sizes = [part.size for part in found]
        if sizes != [min(batch, n - first) for first in range(0, n, batch)]:
            advice = "Cut at 0, batch, 2·batch …: range(0, n, batch)."
            if sizes == [batch] * (n // batch):
                advice = "The last, smaller batch is missing: no image may be left out."
            raise CheckFailed(expected, f"{len(sizes)} batches of {sizes[:4]} …", advice)
        together = np.sort(np.concatenate(found))
        if not np.array_equal(together, np.arange(n)):
            lost = n - len(np.unique(together))
            raise CheckFailed(
                "each of the indices 0 … n-1 exactly once",
                f"{lost} of {n} indices are missing, others occur twice",
                "Shuffle all indices once, then cut them up; do not draw each batch separately.",
            )
    first, second = (np.concatenate(minibatches(1000, 32, rng)) for _ in range(2))
    if np.array_equal(first, np.arange(1000)):
        advice = "Shuffle first: rng.permutation(n)."
        raise CheckFailed("a random order", "0, 1, 2, 3 …", advice)
    if np.array_equal(first, second):
        raise CheckFailed(
            "another order at the next call",
            "the same order twice",
            "Use the argument rng; do not make a new one with the same seed in each call.",
        )
    again = [np.concatenate(minibatches(50, 8, np.random.default_rng(1))) for _ in range(2)]
    if not np.array_equal(again[0], again[1]):
        raise CheckFailed(
            "the same order from two generators with the same seed",
            "two different orders",
            "Take random numbers from `rng` only, not from np.random.",
        )
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
        raise CheckFailed(
            expected,
            "nothing changed",
            "`param = param - …` makes a new array and does not change the old one. `param -= …` "
            "changes the array itself.",
        )
    right = [-0.1 * slope for slope in slopes]
    if not all(np.allclose(a, b) for a, b in zip(moved, right, strict=True)):
        times = moved[0][0, 0]
        advice = "For every array, compute param -= lr * gradient."
        if not moved[1].any():
            advice = "Only the first array changed. Change all of them."
        elif times > 0:
            advice = "That is uphill: subtract the gradient."
        elif abs(times + 1) < 1e-9:
            advice = "The rate is missing: lr * gradient."
        elif abs(times + 10) < 1e-9:
            advice = "Multiply by the rate instead of dividing by it."
        raise CheckFailed(expected, f"1 became {params[0][0, 0]:.3g}", advice)
    return "Every parameter takes a small step downhill."
