"""The check of a diagnosis: a run's traces show which of five steps is missing (7.6)."""

from collections.abc import Callable
from typing import Any

from lessons.toolkit.checks.shared.check import CheckFailed, exercise, shown

Function = Callable[..., Any]

# Spread before the first step, spread at the end, rate over the right rate; the missing step.
TRACES = [
    (0.0, 0.0, 1.0, "nothing", "They are equal at the start and at the end, with the scaled rate."),
    (0.0, 0.17, 1.0, "average", "They started equal and drifted apart: nothing is averaged."),
    (
        0.12,
        0.21,
        1.0,
        "broadcast",
        "They started different and stayed so: rank 0's start was not sent.",
    ),
    (0.21, 0.12, 1.0, "broadcast", "A smaller spread is still a spread: compare with 1e-6."),
    (
        0.12,
        0.0,
        1.0,
        "early",
        "They started different and ended equal: the start was sent, but too late.",
    ),
    (0.0, 0.0, 0.5, "scale", "The ranks agree, and the rate is half of what it should be."),
    (0.0, 0.0, 0.125, "scale", "On 8 ranks, the rate of one rank is an eighth of the right one."),
    (
        0.0,
        0.17,
        0.5,
        "average",
        "There are two faults: name the one that makes the result worthless.",
    ),
    (1e-8, 3e-7, 1.0, "nothing", "A spread up to 1e-6 is rounding, not a fault."),
    (0.0, 2e-5, 1.0, "average", "Even a small spread counts: only up to 1e-6 it is rounding."),
]


@exercise("7.6")
def check_7_6(diagnose: Function) -> str:
    """A spread at the end means no average or no broadcast; the spread at the start shows which."""
    for start, end, rate, right, why in TRACES:
        found = diagnose(start, end, rate)
        if found != right:
            raise CheckFailed(f'diagnose({start:g}, {end:g}, {rate:g}) is "{right}"', shown(found),
                              why)  # fmt: skip
    return "The spread at both ends and the rate name four faults."
