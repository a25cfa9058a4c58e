"""The check of the plugin's calls in a training program (6.4)."""

import math
from typing import Any

from lessons.toolkit.checks.lesson_06.plugin_calls import calls_of
from lessons.toolkit.checks.shared.check import (
    CheckFailed,
    compare,
    exercise,
    number,
    shown,
)


@exercise("6.4")
def check_6_4(train: Any) -> str:
    """The calls are init, config_team, broadcast, gradients in every step, and finalize."""
    cases = [((4, 1, 60000, 128), 1875), ((4, 8, 60000, 128), 235), ((3, 1, 100, 32), 10)]
    for numbers, right in cases:
        found = number(train.steps(*numbers), f"steps{numbers}")
        mistakes = {
            0.0: "int(4 / 8) is 0. Divide the samples of all epochs, and round up at the end.",
            float(right - 1): "Round up: the last, smaller batch is a step, too.",
            float(math.ceil(numbers[0] * numbers[2] / numbers[3])): "Each update takes a "
            "batch on every rank: batch * nranks samples.",
        }
        mistakes.pop(float(right), None)
        compare(found, right, f"steps{numbers}", mistakes)
    calls, results_used = calls_of(train)
    names = [name for name, _ in calls]
    expected = "init, config_team, broadcast, gradients × 4, finalize"
    found_names = ", ".join(names) or "no call"
    order = ["init", "config_team", "broadcast", *["gradients"] * 4, "finalize"]
    if names != order:
        missing = [name for name in dict.fromkeys(order) if name not in names]
        advice = "The order is wrong."
        if missing:
            advice = f"mc.{missing[0]}(…) is missing."
        elif names.count("gradients") != 4:
            advice = "mc.gradients belongs between the backward pass and the update, once per step."
        raise CheckFailed(expected, found_names, advice)
    given = dict(calls)
    wanted: dict[str, tuple[tuple[Any, ...], str]] = {
        "init": ((1, 1, 50_890), "totsize is the total number of parameters."),
        "config_team": (
            (0, 0, 100, 4, 2, 200),
            "config_team(0, 0, 100, max_steps, 2, 200): a report every 200 steps.",
        ),
    }
    for name, (arguments, advice) in wanted.items():
        if given[name][: len(arguments)] != arguments:
            raise CheckFailed(f"{name}{arguments}", f"{name}{given[name]}", advice)
    if not given["gradients"][0][0].shape == (784, 64) or len(given["gradients"][0]) != 4:
        raise CheckFailed("gradients(list of four arrays, 0)", shown(given["gradients"]), "All.")
    if not results_used:
        raise CheckFailed(
            "rank 0's parameters, updated with the mean gradients",
            "this rank's own",
            "Both calls return new arrays: params = mc.broadcast(params, 0) and "
            "gradients = mc.gradients(gradients, 0).",
        )
    return "The five calls are in the right order, totsize is 50,890, and every rank takes steps."
