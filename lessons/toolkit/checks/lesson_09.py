"""Public checks of lesson 09: the learning rate at scale."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from lessons.toolkit.checks.shared.check import CheckFailed, compare, exercise, number, shown

Function = Callable[..., Any]


@exercise("9.1")
def check_9_1(scaled: Function) -> str:
    """scaled(0.1, 16, rule) is 0.1, 0.4 and 1.6 for same, sqrt and linear."""
    for rule, right in {"same": 0.1, "sqrt": 0.4, "linear": 1.6}.items():
        found = number(scaled(0.1, 16, rule), f'scaled(0.1, 16, "{rule}")')
        mistakes = {
            0.1 / 16: "A larger batch allows a larger rate, not a smaller one.",
            0.1 / 4: "A larger batch allows a larger rate, not a smaller one.",
            1.6: "That is the linear rule.",
            0.4: "That is the square-root rule.",
            math.sqrt(1.6): "Take the root of the number of workers only, not of the rate.",
        }
        mistakes.pop(right, None)
        compare(
            found, right, f'scaled(0.1, 16, "{rule}")', mistakes, "Multiply lr by a factor of N."
        )
    for rule in ("same", "sqrt", "linear"):
        found = number(scaled(0.3, 1, rule), f'scaled(0.3, 1, "{rule}")')
        compare(found, 0.3, f'scaled(0.3, 1, "{rule}")', {}, "One worker: nothing changes.")
    return "0.1, 0.4 and 1.6 for 16 workers."


@exercise("9.1b")
def check_9_1b(differing: Function) -> str:
    """differing(old, new) returns the optimizers with different start rates, sorted."""
    old = {"SGD": 0.01, "Adam": 0.001, "Ftrl": 1.0, "Adagrad": 0.01}
    new = {"Adam": 0.001, "Adagrad": 0.001, "SGD": 0.01, "Ftrl": 0.001, "Lion": 0.001}
    found = differing(dict(old), dict(new))
    if found is None:
        raise CheckFailed("a sorted list of names", "None", "Is there a `return`?")
    if not isinstance(found, list | tuple | set) or not all(isinstance(n, str) for n in found):
        raise CheckFailed("a sorted list of names", shown(found), "Return the names only.")
    if list(found) != ["Adagrad", "Ftrl"]:
        advice = "Compare old[name] with new[name] for every name of old."
        if set(found) == {"SGD", "Adam"}:
            advice = "Those optimizers have the same rate in both tables."
        elif set(found) == {"Adagrad", "Ftrl"}:
            advice = "The names are right: sort them."
        elif "Lion" in found:
            advice = "Loop over the names of the old table: a new name has nothing to compare with."
        raise CheckFailed(["Adagrad", "Ftrl"], shown(found), advice)
    return "Look up defaults; do not rely on memory."


@exercise("9.2")
def check_9_2(lr_at: Function) -> str:
    """The rate is base at first, peak after the warm-up, and near 0 at the end of the cosine."""
    base, peak, warmup, total = 0.1, 1.6, 10, 110
    cases = [
        ((0, "cosine"), base, {0.0: "Begin at base, not at 0.", peak: "Warm up first."}),
        ((5, "cosine"), 0.85, {0.8: "The line begins at base: base + (peak - base) * …"}),
        ((10, "none"), peak, {}),
        ((109, "none"), peak, {base: "Without decay the rate stays at peak."}),
        ((10, "cosine"), peak, {1.6 * (1 + math.cos(math.pi * 10 / 110)) / 2: COUNT_FROM}),
        ((60, "cosine"), 0.8, {1.6 * (1 + math.cos(math.pi * 60 / 110)) / 2: COUNT_FROM}),
        (
            (60, "exponential"),
            0.16,
            {
                1.6 * 0.01 ** (60 / 110): COUNT_FROM,
                1.6: NO_EXPONENTIAL,
                1.6 * math.exp(-0.5): "The base is 0.01, not e: use 0.01 ** done.",
            },
        ),
    ]
    for (step, decay), right, mistakes in cases:
        what = f'lr_at({step}, {base}, {peak}, {warmup}, {total}, "{decay}")'
        compare(number(lr_at(step, base, peak, warmup, total, decay), what), right, what, mistakes)
    last = number(lr_at(109, base, peak, warmup, total, "cosine"), "the last rate")
    if not 0 <= last < 0.01:
        raise CheckFailed(
            "a last rate near 0", f"{last:.3g}", "Use half a cosine, from 1 down to 0."
        )
    what = "lr_at without a warm-up"
    compare(number(lr_at(0, base, peak, 0, total, "none"), what), peak, what, {})
    return "The rate goes from 0.1 up to 1.6 in ten steps, then down to 0."


NO_EXPONENTIAL = 'decay may also be "exponential": peak * 0.01 ** done.'
COUNT_FROM = "Count the decay from the end of the warm-up: (step - warmup) / (total - warmup)."


@exercise("9.3")
def check_9_3(update: Function, lars: Function) -> str:
    """Two steps with momentum; a LARS gradient is `trust` times as long as the weights."""
    w, speed = np.array([1.0, 2.0]), np.zeros(2)
    gradient = np.array([1.0, -1.0])
    for step, right in enumerate(([0.9, 2.1], [0.71, 2.29]), start=1):
        update([w], [gradient], [speed], 0.1, 0.9)
        if not np.allclose(w, right):
            advice = "speed <- 0.9 · speed + gradient, then w <- w - 0.1 · speed; both in place."
            if np.allclose(w, [1.0, 2.0]):
                advice = "Nothing moved: change the arrays in place, `param -= …`."
            elif np.allclose(w, [0.8, 2.2]):
                advice = (
                    "The old speed is lost. Change its array in place: `speed *= …; speed += …`."
                )
            elif w[0] > 1:
                advice = "That is uphill: subtract."
            elif np.allclose(w, [0.99, 2.01]):
                advice = "The new gradient counts in full: momentum multiplies only the old speed."
            raise CheckFailed(f"w = {right} after step {step}", shown(w.tolist()), advice)
    params = [np.array([[3.0, 0.0], [0.0, 4.0]]), np.zeros(2)]
    gradients = [np.array([[0.0, 6.0], [8.0, 0.0]]), np.array([1.0, 2.0])]
    found = lars(params, gradients, 0.01)
    if not isinstance(found, list | tuple) or len(found) != 2:
        what = type(found).__name__
        raise CheckFailed("a list of two gradients", f"one {what}", "One for each layer.")
    length = float(np.linalg.norm(found[0]))
    mistakes = {
        0.2: "It is upside down: |weights| / |gradient|.",
        10 * 0.01: "Divide by the gradient's length.",
        5 * 0.01 * 10: "Divide by the gradient's length.",
        10.0: "Nothing was scaled.",
        5.0: "trust is missing.",
    }
    compare(length, 0.05, "the length of the first gradient", mistakes, "trust · |w| / |gradient|.")
    if not np.allclose(found[1], gradients[1]):
        advice = "Weights of 0 (new biases) would never move: leave their gradient unchanged."
        raise CheckFailed("an unchanged gradient for biases of 0", shown(found[1]), advice)
    return "Momentum and LARS match the formulas."


@exercise("9.4")
def check_9_4(largest: Function) -> str:
    """The largest number of workers whose best rule comes within 0.01 of the base's accuracy."""
    table = {1: [0.94], 8: [0.90, 0.92, 0.936], 16: [0.885, 0.93, 0.3], 64: [0.8, 0.86, 0.1]}
    for base, right in ((0.94, 16), (0.944, 8)):
        accuracies = table | {1: [base]}
        found = number(largest(accuracies, 0.01), f"largest for a base of {base}")
        mistakes = {
            64.0: "64 is 0.08 below the base: count only numbers within the tolerance.",
            8.0: "A higher N counts if at least one of its rules is within the tolerance.",
            1.0: "Take the best rule for each N, not the worst or the mean.",
        }
        mistakes.pop(float(right), None)
        compare(found, right, f"largest N for a base of {base}", mistakes)
    return "For each N, only its best rule counts."


@exercise("9.5")
def check_9_5(setting: Function) -> str:
    """setting(task) gives 8 different pairs (rate, momentum) for the tasks 0 to 7."""
    found = [setting(task) for task in range(8)]
    if any(f is None for f in found):
        raise CheckFailed("a pair (rate, momentum)", "None", "Is there a `return`?")
    if any(not isinstance(f, tuple) or len(f) != 2 for f in found):
        raise CheckFailed("a pair (rate, momentum)", shown(found[0]), "return rate, momentum")
    if len(set(found)) < 8:
        advice = "task // 2 chooses the rate, task % 2 the momentum: each pair exactly once."
        raise CheckFailed("8 different settings", f"{len(set(found))} different ones", advice)
    rates, momenta = {f[0] for f in found}, {f[1] for f in found}
    if (len(rates), len(momenta)) != (4, 2):
        raise CheckFailed(
            "4 rates × 2 momenta", f"{len(rates)} × {len(momenta)}", "Use rates and momenta."
        )
    return "Eight tasks, eight settings, no communication."


@exercise("9.4b")
def check_9_4b(gap: Function) -> str:
    """gap(small, large, level): test accuracies at equal training loss, or no claim (None)."""
    small = [(0.5, 0.88), (0.2, 0.93), (0.09, 0.95), (0.05, 0.951), (0.04, 0.953)]
    large = [(0.9, 0.80), (0.4, 0.90), (0.15, 0.92), (0.1, 0.93), (0.08, 0.934)]
    what = "gap at training loss 0.1 between 0.950 (small batch) and 0.930 (large batch)"
    found = gap(list(small), list(large), 0.1)
    if found is None:
        advice = "Both have reached 0.1. Is there a `return`, and do you compare with `<=`?"
        raise CheckFailed(f"{what} = 0.02", "None", advice)
    mistakes = {
        -0.02: "The sign is wrong: take the small batch's accuracy minus the large batch's.",
        0.953 - 0.934: "Do not compare the last epochs: their training losses differ.",
        0.95
        - 0.92: "Equal epochs do not mean equal training loss: each run reaches the loss in its "
        "own epoch.",
        0.95 - 0.934: "Use `<=`: a loss of exactly 0.1 has reached 0.1.",
        0.953 - 0.93: "For both runs, take the first epoch that has reached the level.",
    }
    compare(
        number(found, what),
        0.02,
        what,
        mistakes,
        "Use each run's test accuracy in the epoch in which it reaches the level.",
    )
    for behind, ahead in ((large[:3], small), (small, large[:3])):
        found = gap(list(ahead), list(behind), 0.1)
        if found is not None:
            raise CheckFailed(
                "None, because a run that ended at a training loss of 0.15 never reached 0.1",
                shown(found),
                "A network that is trained less also does worse on the test images. Without "
                "equal training loss you cannot claim a gap: return None.",
            )
    return "You can claim a gap only at equal training loss."


@exercise("9.6")
def check_9_6(epochs_to: Function, race: Function) -> str:
    """epochs_to finds the first epoch at the target; race divides N by the ratio of the epochs."""
    accuracies = [0.88, 0.9, 0.93, 0.925, 0.94]
    for target, right, advice in (
        (
            0.93,
            3,
            "Count epochs from 1 and compare with `>=`. The accuracy of a later epoch can be "
            "lower again.",
        ),
        (0.935, 5, "Return the first epoch whose own accuracy reaches the target."),
        (0.88, 1, "The first epoch has the number 1."),
        (0.95, None, "The target is never reached: return None, not the last epoch."),
    ):
        found = epochs_to(list(accuracies), target)
        if found != right:
            raise CheckFailed(f"epochs_to({accuracies}, {target}) = {right}", shown(found), advice)
    what = "race(4, 10, 16)"
    mistakes = {
        16.0: "That compares the time of a single epoch. But several workers need 10 epochs "
        "where one worker needs 4.",
        0.4: "Remember that 16 workers also do 16 times as much work per second.",
        40.0: "Training that needs more epochs is slower: multiply by one / several.",
    }
    compare(number(race(4, 10, 16), what), 6.4, what, mistakes, "n * share * one / several")
    what = "race(4, 10, 16, 0.5)"
    mistakes = {
        6.4: "Multiply by the share too: half of the speed is lost to communication.",
        12.8: "Multiply by the share; do not divide by it.",
    }
    compare(number(race(4, 10, 16, 0.5), what), 3.2, what, mistakes, "n * share * one / several")
    return "16 workers that need 2.5 times the epochs reach the target 6.4 times as fast, at best."
