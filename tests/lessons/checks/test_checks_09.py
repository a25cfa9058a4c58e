"""Lesson 09's public checks, and its rates at every step."""

import functools
import inspect
import math

import numpy as np
import pytest
from advice import assert_advice, failure
from hypothesis import given, strategies as st
from solution_programs import program

from lessons.toolkit.checks import lesson_09 as check
from lessons.toolkit.checks.lesson_01 import differences

rates, network = (program("09_learning_rate", name) for name in ("rates", "network"))


def largest(accuracies, within, pick=max):
    needed = pick(accuracies[1]) - within
    return max(n for n, found in accuracies.items() if pick(found) >= needed)


def keras_update(w, gradient, velocity, rate, before, momentum, factor=1):
    velocity = momentum * velocity * (rate / before) ** factor - rate * gradient
    return w + velocity, velocity


@pytest.mark.parametrize(("factor", "advice"), [(0, "*earlier* rates"), (-1, "By which factor")])
def test_rates_inside_the_sum(factor, advice):
    wrong = functools.partial(keras_update, factor=factor)
    assert_advice(failure(check.check_9_3b, wrong), advice)


def gap(small, large, level):
    reached = [[test for loss, test in run if loss <= level] for run in (small, large)]
    return reached[0][0] - reached[1][0] if all(reached) else None


def epochs_to(accuracies, target):
    return next((n for n, found in enumerate(accuracies, start=1) if found >= target), None)


def race(one, several, n, share=1.0):
    return n * share * one / several


def test_the_lessons_own_functions_pass():
    check.check_9_1(rates.scaled)
    check.check_9_4b(gap)
    check.check_9_2(rates.lr_at)
    check.check_9_3(rates.update, rates.lars)
    check.check_9_3b(keras_update)
    check.check_9_4(largest)
    check.check_9_5(rates.setting)
    check.check_9_6(epochs_to, race)


@given(
    base=st.floats(1e-4, 1),
    workers=st.integers(1, 64),
    warmup=st.integers(0, 50),
    more=st.integers(1, 200),
)
def test_the_schedule_equals_its_formula_at_every_step(base, workers, warmup, more):
    peak, total = rates.scaled(base, workers, "linear"), warmup + more
    assert peak == pytest.approx(base * workers)
    found = [rates.lr_at(k, base, peak, warmup, total, "cosine") for k in range(total)]
    ramp = np.linspace(base, peak, warmup, endpoint=False)
    fall = peak * (1 + np.cos(np.pi * np.arange(more) / more)) / 2
    np.testing.assert_allclose(found, np.concatenate([ramp, fall]), rtol=1e-9, atol=1e-12)
    found = [rates.lr_at(k, base, peak, warmup, total, "exponential") for k in range(total)]
    fall = peak * np.logspace(0, -2, more, endpoint=False)
    np.testing.assert_allclose(found, np.concatenate([ramp, fall]), rtol=1e-9, atol=1e-12)
    flat = [rates.lr_at(k, base, peak, warmup, total, "none") for k in range(warmup, total)]
    assert set(flat) == {peak}


def test_lars_makes_every_layers_step_as_long_as_trust_times_its_weights():
    rng = np.random.default_rng(1)
    params = [rng.normal(size=shape) for shape in ((5, 4), (4,))]
    gradients = [1000 * rng.normal(size=(5, 4)), 1e-6 * rng.normal(size=4)]
    for w, g, found in zip(params, gradients, rates.lars(params, gradients, 0.02), strict=True):
        assert np.linalg.norm(found) == pytest.approx(0.02 * np.linalg.norm(w))
        assert np.dot(found.ravel(), g.ravel()) == pytest.approx(
            np.linalg.norm(found) * np.linalg.norm(g)
        )


def test_momentum_with_a_constant_gradient_reaches_ten_times_the_step():
    w, speed = np.zeros(1), np.zeros(1)
    for _ in range(200):
        before = w.copy()
        rates.update([w], [np.ones(1)], [speed], 0.1, 0.9)
    assert before - w == pytest.approx(1.0)


def scaled(lr, workers, rule, root=math.sqrt):
    return lr * {"same": 1, "sqrt": root(workers), "linear": workers}[rule]


@pytest.mark.parametrize(
    ("wrong", "advice"),
    [
        (lambda lr, n, rule: lr * n, "the linear rule"),
        (lambda lr, n, rule: lr * math.sqrt(n), "the square-root rule"),
        (lambda lr, n, rule: scaled(lr, 1 / n, rule), "makes the rate smaller"),
        (lambda lr, n, rule: math.sqrt(lr * n) if rule == "sqrt" else scaled(lr, n, rule),
         "not of the rate"),
        (lambda lr, n, rule: scaled(0.1, n, rule), "nothing changes"),
    ],
)  # fmt: skip
def test_rules_that_are_wrong(wrong, advice):
    assert_advice(failure(check.check_9_1, wrong), advice)


def lr_at(
    step, base, peak, warmup, total, decay, zero=False, offset=True, cosine=True, base_of=0.01
):
    if step < warmup:
        return peak * step / warmup if zero else base + (peak - base) * step / warmup
    if decay == "none" or not cosine:
        return peak
    begin = warmup if offset else 0
    done = (step - begin) / (total - begin)
    if decay == "exponential":
        return peak * base_of**done
    return peak * (1 + math.cos(math.pi * done)) / 2


@pytest.mark.parametrize(
    ("wrong", "advice"),
    [
        (lambda *a: lr_at(*a, zero=True), "Begin at base"),
        (lambda *a: lr_at(*a, offset=False), "end of the warm-up"),
        (lambda *a: lr_at(*a, cosine=False), "arithmetic"),
        (lambda *a: a[2], "Warm up first"),
        (lambda *a: a[1] if a[0] > 50 else lr_at(*a), "stays at peak"),
        (lambda *a: lr_at(*a, base_of=math.exp(-1)), "base is 0.01"),
        (lambda *a: lr_at(*a, cosine=a[5] != "exponential"), "may also be"),
    ],
)
def test_schedules_that_are_wrong(wrong, advice):
    assert_advice(failure(check.check_9_2, wrong), advice)


def moved(new_weight=1.0, sign=-1, keep=True, in_place=True):
    def update(params, gradients, speeds, lr, momentum):
        for param, gradient, speed in zip(params, gradients, speeds, strict=True):
            now = momentum * speed + new_weight * gradient
            if keep:
                speed[...] = now
            if in_place:
                param += sign * lr * now

    return update


@pytest.mark.parametrize(
    ("wrong", "advice"),
    [
        (moved(in_place=False), "Nothing moved"),
        (moved(keep=False), "old speed is lost"),
        (moved(sign=1), "uphill"),
        (moved(new_weight=0.1), "counts in full"),
        (lambda p, g, s, *rates: moved()(p[:1], g[:1], s[:1], *rates), "Nothing moved"),
        (lambda p, g, s, lr, momentum: moved()(p, g, s, 0.1, 0.9), "do you use the arguments"),
    ],
)
def test_momenta_that_are_wrong(wrong, advice):
    assert_advice(failure(check.check_9_3, wrong, rates.lars), advice)


def lars(params, gradients, trust, ratio):
    return [
        g * ratio(np.linalg.norm(w), np.linalg.norm(g), trust) if w.any() else g
        for w, g in zip(params, gradients, strict=True)
    ]


@pytest.mark.parametrize(
    ("wrong", "advice"),
    [
        (lambda p, g, t: lars(p, g, t, lambda w, g, t: t * g / w), "upside down"),
        (lambda p, g, t: lars(p, g, t, lambda w, g, t: t * w), "Divide by"),
        (lambda p, g, t: lars(p, g, t, lambda w, g, t: w / g), "trust is missing"),
        (lambda p, g, t: g, "Nothing was scaled"),
        (lambda p, g, t: [t * a / np.linalg.norm(b) * 0 + b * (t * np.linalg.norm(a)
         / np.linalg.norm(b)) for a, b in zip(p, g, strict=True)], "would never move"),
        (lambda p, g, t: g[0], "list of two"),
        (lambda p, g, t: rates.lars(p, g, 0.01), "three factors"),
        (lambda p, g, t: [rates.lars(p, g, t)[0], *g[1:]], "Nothing was scaled"),
        (lambda p, g, t: lars(p, p, t, lambda w, g, t: t * w / g), "same direction"),
    ],
)  # fmt: skip
def test_layers_that_are_scaled_wrong(wrong, advice):
    assert_advice(failure(check.check_9_3, rates.update, wrong), advice)


@pytest.mark.parametrize(
    ("wrong", "advice"),
    [
        (lambda table, within: max(table), "only numbers within"),
        (lambda table, within: largest(table, within, pick=min), "best rule for each N"),
        (lambda table, within: 8, "one of its rules"),
    ],
)
def test_largest_batches_that_are_not(wrong, advice):
    assert_advice(failure(check.check_9_4, wrong), advice)


@pytest.mark.parametrize(
    ("wrong", "advice"),
    [
        (lambda task: rates.setting(task // 2), "got the same pair"),
        (lambda task: (task // 2, task % 2), "from the lists"),
        (lambda task: (0.1 * (task + 1), 0.9), "`rates` and `momenta`"),
        (lambda task: 0.1 * task, "return rate, momentum"),
    ],
)
def test_settings_that_are_wrong(wrong, advice):
    assert_advice(failure(check.check_9_5, wrong), advice)


def first(run, level):
    return next((n for n, (loss, _) in enumerate(run) if loss <= level), None)


def at_equal_epochs(small, large, level):
    n = first(small, level)
    return small[n][1] - large[n][1]


def without_asking(small, large, level):
    """Use the last epoch if the loss is never reached."""
    places = [first(run, level) for run in (small, large)]
    ends = [run[-1 if n is None else n][1] for run, n in zip((small, large), places, strict=True)]
    return ends[0] - ends[1]


@pytest.mark.parametrize(
    ("wrong", "advice"),
    [
        (without_asking, "cannot claim a gap"),
        (lambda small, large, level: small[-1][1] - large[-1][1], "Do not compare the last epochs"),
        (at_equal_epochs, "Equal epochs"),
        (lambda small, large, level: gap(large, small, level), "sign is wrong"),
        (lambda small, large, level: gap(small, large, 0.0999), "exactly 0.1"),
    ],
)
def test_gaps_that_are_none(wrong, advice):
    assert_advice(failure(check.check_9_4b, wrong), advice)


def test_keras_has_changed_two_start_rates_since_2018():
    import keras

    of_2018 = {"Adam": 0.001, "RMSprop": 0.001, "SGD": 0.01, "Adagrad": 0.01, "Adadelta": 1.0}
    installed = {
        name: inspect.signature(getattr(keras.optimizers, name)).parameters["learning_rate"].default
        for name in of_2018
    }
    changed = sorted(name for name, rate in installed.items() if rate != of_2018[name])
    assert changed == ["Adadelta", "Adagrad"]
    assert installed["Adagrad"] == installed["Adadelta"] == 0.001


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_the_ranks_shares_add_up_to_central_differences(ranks):
    """Each rank divides by the batch size, the plugin by the ranks; in float64."""
    rng = np.random.default_rng(ranks)
    params = [part.astype(np.float64) for part in network.start(rng, 5, 6, 4)]
    params[1] += rng.normal(size=6)  # away from relu's corner
    x, labels = rng.normal(size=(7, 5)), rng.integers(0, 4, 7)

    def loss(_):
        return network.cross_entropy(network.forward(params, x)[0], labels) / 7

    shares = [
        network.backward(network.forward(params, x[r::ranks])[1], labels[r::ranks], 7 / ranks)
        for r in range(ranks)
    ]
    for place, param in enumerate(params):
        found = sum(share[place] for share in shares) / ranks
        np.testing.assert_allclose(found, differences(loss, param), rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize(
    ("wrong", "advice"),
    [
        (
            (lambda a, t: next((n for n, f in enumerate(a) if f >= t), None), race),
            "Count epochs from 1",
        ),
        ((lambda a, t: sum(f < t for f in a) + 1, race), "can be lower again"),
        ((lambda a, t: epochs_to(a, t) or len(a), race), "not the last epoch"),
        ((epochs_to, lambda one, several, n, share=1.0: n * share), "the time of a single epoch"),
        ((epochs_to, lambda one, several, n, share=1.0: share * one / several), "16 times as much"),
        ((epochs_to, lambda one, several, n, share=1.0: n * share * several / one), "slower"),
        (
            (epochs_to, lambda one, several, n, share=1.0: n * one / several),
            "what does the share do",
        ),
    ],
)
def test_wrong_races(wrong, advice):
    assert_advice(failure(check.check_9_6, *wrong), advice)
