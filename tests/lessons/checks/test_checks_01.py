"""Lesson 01's public checks: right solutions pass, each usual mistake gets its advice."""

import numpy as np
import pytest
from advice import assert_advice, failure
from solution_programs import program

from lessons.toolkit.checks import lesson_01 as check

train = program("01_learning", "train")


def test_the_lessons_own_functions_pass():
    check.check_1_1(gradient)
    check.check_1_2(descend)
    check.check_1_3(train.forward, train.backward)
    check.check_1_4(train.minibatches)
    check.check_1_5(train.update)


# Exercise 1.1
def gradient(w, x, y, factor=2.0, mean=True, sign=1):
    error = sign * (check.powers(w, x) - y)
    total = np.array([(factor * error * x**k).sum() for k in range(len(w))])
    return total / len(x) if mean else total


@pytest.mark.parametrize(
    ("wrong", "advice"),
    [
        (lambda w, x, y: gradient(w, x, y, factor=1), "factor 2 is missing"),
        (lambda w, x, y: gradient(w, x, y) * (1 + 1e-9), "needs no loss"),  # as differences
        (lambda w, x, y: gradient(w, x, y, mean=False), "number of points"),
        (lambda w, x, y: gradient(w, x, y, sign=-1), "sign is wrong"),
        (lambda w, x, y: gradient(w, x, y)[::-1], "reversed"),
        (lambda w, x, y: gradient(w, x, y)[:, None], "reshape"),
        (lambda w, x, y: 2 * (check.powers(w, x) - y), "each of the len(w) parameters"),
        (lambda w, x, y: gradient(w, x, y).tolist(), "np.array(…) around it"),
        (lambda w, x, y: gradient(w, x, y) * x[:4].mean() + w, "Move w[k] by d"),
    ],
)
def test_gradients_of_a_polynomial(wrong, advice):
    assert_advice(failure(check.check_1_1, wrong), advice)


# Exercise 1.2
def descend(gradient, w, lr, steps, sign=-1.0, first=True, stale=False):
    path = [w] if first else []
    slope = gradient(w)
    for _ in range(steps):
        w = w + sign * lr * (slope if stale else gradient(w))
        path.append(w)
    return path


def in_place(gradient, w, lr, steps):
    path = [w]
    for _ in range(steps):
        w -= lr * gradient(w)
        path.append(w)
    return path


@pytest.mark.parametrize(
    ("wrong", "advice"),
    [
        (lambda *a: descend(*a, sign=1.0), "uphill"),
        (lambda *a: descend(*a, first=False), "start into the list"),
        (lambda g, w, lr, steps: descend(g, w, 1.0, steps), "rate is missing"),
        (lambda *a: descend(*a, stale=True), "where you are"),
        (lambda *a: [descend(*a)[-1]], "not only the last"),
        (lambda *a: float(descend(*a)[-1][0]), "list"),
        (lambda g, w, lr, steps: descend(g, w, lr, steps + 1, first=False), "start itself"),
        (in_place, "changes the array that is already in the list"),
        (lambda g, w, lr, steps: descend(g, w, lr, 1), "inside the loop"),
    ],
)
def test_ways_down_that_are_not(wrong, advice):
    assert_advice(failure(check.check_1_2, wrong), advice)


# Exercise 1.3
def backward(cache, labels, change=lambda parts, cache: parts, divide=True, relu=True, copy=True):
    x, hidden, w2, probabilities = cache
    d_scores = probabilities.copy() if copy else probabilities
    d_scores[np.arange(len(labels)), labels] -= 1
    if divide:
        d_scores /= len(labels)
    d_hidden = d_scores @ w2.T
    if relu:
        d_hidden = np.where(hidden > 0, d_hidden, 0)
    parts = [x.T @ d_hidden, d_hidden.sum(axis=0), hidden.T @ d_scores, d_scores.sum(axis=0)]
    return change(parts, cache)


@pytest.mark.parametrize(
    ("options", "advice"),
    [
        ({"divide": False}, "divide by len(labels)"),
        ({"relu": False}, "relu let through"),
        ({"copy": False}, "work on a copy"),
        ({"change": lambda parts, _: [-part for part in parts]}, "probability minus one-hot"),
        ({"change": lambda parts, _: parts[2:]}, "in this order"),
        ({"change": lambda parts, _: [*parts[:3], parts[3][:, None]]}, "reshape"),
        ({"change": lambda parts, _: [parts[0].T, *parts[1:]]}, "transpose"),
        ({"change": lambda parts, _: [*parts[:2], 2 * parts[2], parts[3]]}, "has the shape of w2"),
        ({"change": lambda parts, _: [0 * parts[0], *parts[1:]]}, "only w1 is wrong"),
    ],
)
def test_backward_passes_that_are_wrong(options, advice):
    def wrong(cache, labels):
        return backward(cache, labels, **options)

    assert_advice(failure(check.check_1_3, train.forward, wrong), advice)


# Exercise 1.4
def cut(order, batch):
    return [order[first : first + batch] for first in range(0, len(order), batch)]


@pytest.mark.parametrize(
    ("wrong", "advice"),
    [
        (lambda n, batch, rng: cut(np.arange(n), batch), "where is chance"),
        (
            lambda n, batch, rng: cut(np.roll(np.arange(n), rng.integers(n)), batch),
            "leaves neighbours",
        ),
        (lambda n, batch, rng: cut(np.random.default_rng(1).permutation(n), batch), "same seed"),
        (lambda n, batch, rng: cut(np.random.permutation(n), batch), "np.random"),
        (
            lambda n, batch, rng: cut(rng.permutation(n), batch)[: n // batch],
            "no image may be left out",
        ),
        (lambda n, batch, rng: cut(rng.integers(0, n, n), batch), "which shuffle"),
        (lambda n, batch, rng: cut(rng.permutation(n), batch + 1), "Cut at 0"),
        (lambda n, batch, rng: rng.permutation(n)[:batch], "in a list"),
    ],
)
def test_batches_that_are_wrong(wrong, advice):
    assert_advice(failure(check.check_1_4, wrong), advice)


# Exercise 1.5
def stepped(factor, arrays=2, rebind=False, gradients_too=False):
    def update(params, gradients, lr):
        for param, gradient in list(zip(params, gradients, strict=True))[:arrays]:
            if rebind:
                param = param - lr * gradient
            elif gradients_too:
                gradient *= lr
                param -= gradient
            else:
                param += factor(lr) * gradient

    return update


@pytest.mark.parametrize(
    ("wrong", "advice"),
    [
        (stepped(lambda lr: lr), "uphill"),
        (stepped(lambda lr: -1.0), "rate is missing"),
        (stepped(lambda lr: -lr, arrays=1), "only the first array"),
        (stepped(None, rebind=True), "changes in place"),
        (stepped(None, gradients_too=True), "leave the gradients"),
        (stepped(lambda lr: -2 * lr), "rate times slope"),
    ],
)
def test_steps_that_are_wrong(wrong, advice):
    assert_advice(failure(check.check_1_5, wrong), advice)
