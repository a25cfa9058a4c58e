"""Public checks of lesson 09: the learning rate at scale."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from lessons.toolkit.checks.shared.check import CheckFailed, check_number, compare, exercise, shown

Function = Callable[..., Any]

RULES = {
    1.6: "That is the linear rule.",
    0.4: "That is the square-root rule.",
    math.sqrt(1.6): "Take the root of the number of workers only, not of the rate.",
}


@exercise("9.1")
def check_9_1(scaled: Function) -> str:
    """scaled(0.1, 16, rule) is 0.1, 0.4 and 1.6 for same, sqrt and linear."""
    for rule, right in {"same": 0.1, "sqrt": 0.4, "linear": 1.6}.items():
        advice = "By which factor does this rule multiply lr? No rule makes the rate smaller."
        check_number(scaled, "scaled", (0.1, 16, rule), right, RULES, advice)
        advice = "One worker: nothing changes."
        check_number(scaled, "scaled", (0.3, 1, rule), 0.3, {}, advice)
    return "0.1, 0.4 and 1.6 for 16 workers."


NO_EXPONENTIAL = 'decay may also be "exponential": peak * 0.01 ** done.'
COUNT_FROM = "Count the decay from the end of the warm-up to the end of the run."


@exercise("9.2")
def check_9_2(lr_at: Function) -> str:
    """The rate is base at first, peak after the warm-up, and near 0 at the end of the cosine."""
    base, peak, total = 0.1, 1.6, 110

    def cosine(done: float) -> float:
        return peak * (1 + math.cos(math.pi * done)) / 2

    exponential = {
        peak * 0.01 ** (60 / 110): COUNT_FROM,
        peak: NO_EXPONENTIAL,
        peak * math.exp(-0.5): "The base is 0.01, not e: use 0.01 ** done.",
    }
    for step, warmup, decay, right, mistakes in (
        (0, 10, "cosine", base, {0.0: "Begin at base, not at 0.", peak: "Warm up first."}),
        (5, 10, "cosine", 0.85, {0.8: "Where does your line begin: at 0, or at base?"}),
        (109, 10, "none", peak, {base: "Without decay the rate stays at peak."}),
        (10, 10, "cosine", peak, {cosine(10 / 110): COUNT_FROM}),
        (60, 10, "cosine", 0.8, {cosine(60 / 110): COUNT_FROM}),
        (109, 10, "cosine", cosine(0.99), {}),
        (60, 10, "exponential", 0.16, exponential),
        (0, 0, "none", peak, {}),
    ):
        arguments = (step, base, peak, warmup, total, decay)
        check_number(lr_at, "lr_at", arguments, right, mistakes)
    return "The rate goes from 0.1 up to 1.6 in ten steps, then down to 0."


MOVES = {
    1.0: "Nothing moved: do all your arrays change, or only your names for them?",
    0.8: "The old speed is lost: does its array change, or only your name for it?",
    1.1: "That is uphill: subtract.",
    0.99: "The new gradient counts in full: momentum multiplies only the old speed.",
}
STEPS = (  # rate and momentum are arguments; the part of a weight that is left if gradient = weight
    (0.1, 0.9, 0.9),
    (0.1, 0.9, 0.71),
    (0.25, 0.5, 0.2225),
)
LENGTHS = {
    0.2: "It is upside down: |weights| / |gradient|.",
    0.5: "Divide by the gradient's length.",
    10.0: "Nothing was scaled.",
    5.0: "trust is missing.",
}


@exercise("9.3")
def check_9_3(update: Function, lars: Function) -> str:
    """Two steps with momentum; a LARS gradient is `trust` times as long as the weights."""
    check_update(update)
    check_lars(lars)
    return "Momentum and LARS match the formulas."


def check_update(update: Function) -> None:
    starts = np.ones(1), np.array([[2.0, 3.0]])  # also the gradients of each step
    params, speeds = [start.copy() for start in starts], [0 * start for start in starts]
    for step, (rate, momentum, right) in enumerate(STEPS, start=1):
        update(list(params), [start.copy() for start in starts], list(speeds), rate, momentum)
        for start, param in zip(starts, params, strict=True):
            for first, found in zip(start.flat, param.flat, strict=True):
                mistakes = {first * wrong: advice for wrong, advice in MOVES.items()}
                what = f"a weight of {first:g} after step {step}, momentum {momentum}, rate {rate}"
                advice = "Do you use the arguments `lr` and `momentum`, as the docstring does?"
                compare(float(found), first * right, what, mistakes, advice)


def check_lars(lars: Function) -> None:
    weights, gradient = np.array([[3.0, 0.0], [0.0, 4.0]]), np.array([[0.0, 6.0], [8.0, 0.0]])
    for trust, turn in ((0.01, 1), (0.02, -1)):  # the biases come second, then first
        params, gradients = [weights, np.zeros(2)], [gradient.copy(), np.array([1.0, 2.0])]
        found = lars(params[::turn], gradients[::turn], trust)
        if not isinstance(found, list | tuple) or len(found) != 2:
            what = type(found).__name__
            raise CheckFailed("a list of two gradients", f"one {what}", "One for each layer.")
        scaled, biases = found[::turn]
        what = f"the length of a gradient with trust {trust}"
        advice = "Compare with the formula on the page: which of its three factors is wrong?"
        compare(float(np.linalg.norm(scaled)), 5 * trust, what, LENGTHS, advice)
        if not np.allclose(scaled, gradient * trust / 2):
            advice = "Multiply the whole gradient by one number."
            raise CheckFailed("a gradient in the same direction", shown(scaled), advice)
        if not np.allclose(biases, [1, 2]):
            advice = "Weights of 0 (new biases) would never move. Which gradient lets them move?"
            raise CheckFailed("an unchanged gradient for biases of 0", shown(biases), advice)
    [still] = lars([np.ones(2)], [np.zeros(2)], 0.01)
    if not np.array_equal(still, np.zeros(2)):
        advice = "How long is this gradient, and what does your formula divide by?"
        raise CheckFailed("a gradient of 0 stays 0", shown(still), advice)


RATES = (0.1, 0.4, 1.6, 0.4)


@exercise("9.3b")
def check_9_3b(keras_update: Function) -> str:
    """With rates that change, four steps end where those of `update` end."""

    def steps(change: Function) -> float:
        w, velocity, before = 1.0, 0.0, RATES[0]
        for rate in RATES:
            w, velocity = change(w, 1.0, velocity, rate, before, 0.9)
            before = rate
        return float(w)

    speed, right = 0.0, 1.0  # as `update` has them
    for rate in RATES:
        speed = 0.9 * speed + 1
        right -= rate * speed

    def kept(power: int) -> Function:
        def change(w: float, g: float, v: float, rate: float, before: float, m: float) -> Any:
            v = m * v * (before / rate) ** power - rate * g
            return w + v, v

        return change

    mistakes = {
        steps(kept(0)): "The velocity has added up gradients times *earlier* rates.",
        steps(kept(1)): "By which factor are old gradients too short if the rate has risen?",
    }
    compare(steps(keras_update), right, "w after rates of 0.1, 0.4, 1.6 and 0.4", mistakes)
    return "With a schedule, too, both rules take the same steps."


@exercise("9.4")
def check_9_4(largest: Function) -> str:
    """The largest number of workers whose best rule comes within 0.01 of the base's accuracy."""
    table = {1: [0.94], 8: [0.90, 0.92, 0.936], 16: [0.885, 0.93, 0.3], 64: [0.8, 0.86, 0.1]}
    mistakes = {
        64.0: "64 is 0.08 below the base: count only numbers within the tolerance.",
        8.0: "A higher N counts if at least one of its rules is within the tolerance.",
        1.0: "Take the best rule for each N, not the worst or the mean.",
    }
    for base, right in ((0.94, 16), (0.944, 8)):
        check_number(largest, "largest", (table | {1: [base]}, 0.01), right, mistakes)
    return "For each N, only its best rule counts."


@exercise("9.5")
def check_9_5(setting: Function) -> str:
    """setting(task) gives 8 different pairs (rate, momentum) for the tasks 0 to 7."""
    found = [setting(task) for task in range(8)]
    if any(not isinstance(f, tuple) or len(f) != 2 for f in found):
        raise CheckFailed("a pair (rate, momentum)", shown(found[0]), "return rate, momentum")
    if len(set(found)) < 8:
        first = next(pair for task, pair in enumerate(found) if pair in found[:task])
        advice = f"Two tasks got the same pair: {shown(first)}."
        raise CheckFailed("8 different settings", f"{len(set(found))} different ones", advice)
    rates, momenta = (set(values) for values in zip(*found, strict=True))
    if (rates, momenta) != ({0.03, 0.1, 0.3, 1.0}, {0.0, 0.9}):
        advice = "Take the values from the lists `rates` and `momenta`."
        raise CheckFailed("4 rates × 2 momenta", f"{len(rates)} × {len(momenta)}", advice)
    return "Eight tasks, eight settings, no communication."


GAPS = {
    -0.02: "The sign is wrong: take the small batch's accuracy minus the large batch's.",
    0.953 - 0.934: "Do not compare the last epochs: their training losses differ.",
    0.95 - 0.92: "Equal epochs do not mean equal training loss: each run reaches the loss in its "
    "own epoch.",
    0.95 - 0.934: "Use `<=`: a loss of exactly 0.1 has reached 0.1.",
    0.953 - 0.93: "For both runs, take the first epoch that has reached the level.",
}


@exercise("9.4b")
def check_9_4b(gap: Function) -> str:
    """gap(small, large, level): test accuracies at equal training loss, or no claim (None)."""
    small = [(0.5, 0.88), (0.2, 0.93), (0.09, 0.95), (0.05, 0.951), (0.04, 0.953)]
    large = [(0.9, 0.80), (0.4, 0.90), (0.15, 0.92), (0.1, 0.93), (0.08, 0.934)]
    advice = "Use each run's test accuracy in the epoch in which it reaches the level."
    check_number(gap, "gap", (small, large, 0.1), 0.02, GAPS, advice)
    for ahead, behind in ((small, large[:3]), (large[:3], small)):
        found = gap(list(ahead), list(behind), 0.1)
        if found is not None:
            expected = "None: a run that ended at a training loss of 0.15 never reached 0.1"
            advice = "A network that is trained less also does worse on the test images. Without "
            advice += "equal training loss you cannot claim a gap: return None."
            raise CheckFailed(expected, shown(found), advice)
    return "You can claim a gap only at equal training loss."


RACE = "At a share of 1, n workers do n epochs in the time of one. How many epochs do they need?"
RACES = {
    16.0: "That compares the time of a single epoch. But several workers need 10 epochs where one "
    "worker needs 4.",
    0.4: "Remember that 16 workers also do 16 times as much work per second.",
    40.0: "Training that needs more epochs is slower, not faster.",
    6.4: "Half of the speed is lost to communication: what does the share do?",
    12.8: "A smaller share makes it slower, not faster.",
}


@exercise("9.6")
def check_9_6(epochs_to: Function, race: Function) -> str:
    """epochs_to finds the first epoch at the target; race divides N by the ratio of the epochs."""
    accuracies = [0.88, 0.9, 0.93, 0.925, 0.94]
    for target, right, advice in (
        (0.93, 3, "Count epochs from 1, and use `>=`. A later accuracy can be lower again."),
        (0.935, 5, "Return the first epoch whose own accuracy reaches the target."),
        (0.88, 1, "The first epoch has the number 1."),
        (0.95, None, "The target is never reached: return None, not the last epoch."),
    ):
        found = epochs_to(list(accuracies), target)
        if found != right:
            raise CheckFailed(f"epochs_to({accuracies}, {target}) = {right}", shown(found), advice)
    for share, times in ((1.0, 6.4), (0.5, 3.2)):
        check_number(race, "race", (4, 10, 16, share), times, RACES, RACE)
    return "16 workers that need 2.5 times the epochs reach the target 6.4 times as fast, at best."
