"""Check a diagnosis: a run's traces show which of five steps is missing (7.6)."""

from collections.abc import Callable
from typing import Any

from lessons.toolkit.checks.shared.check import CheckFailed, exercise, shown

Function = Callable[..., Any]

# Spread before the first step, spread at the end, rate over the right rate; the missing step.
TRACES = [
    (
        0.0,
        0.0,
        1.0,
        "nothing",
        "The ranks' parameters are equal at the start and at the end, and the rate is scaled.",
    ),
    (0.0, 0.17, 1.0, "average", "The ranks started equal and drifted apart: nothing is averaged."),
    (
        0.12,
        0.21,
        1.0,
        "broadcast",
        "The ranks started with different parameters and never became equal: rank 0's parameters "
        "were not sent.",
    ),
    (
        0.21,
        0.12,
        1.0,
        "broadcast",
        "The spread became smaller, but the ranks are still not equal: compare it with 1e-6.",
    ),
    (
        0.12,
        0.0,
        1.0,
        "early",
        "The ranks started with different parameters but ended with equal ones: rank 0's "
        "parameters were sent, but too late.",
    ),
    (0.0, 0.0, 0.5, "scale", "The ranks agree, but the rate is half of what it should be."),
    (0.0, 0.0, 0.125, "scale", "On 8 ranks, the rate for one rank is 1/8 of the correct one."),
    (
        0.0,
        0.17,
        0.5,
        "average",
        "There are two faults here: return the one that makes the result worthless.",
    ),
    (1e-8, 3e-7, 1.0, "nothing", "A spread of up to 1e-6 is rounding, not a fault."),
    (
        0.0,
        2e-5,
        1.0,
        "average",
        "Even a small spread counts: only a spread of up to 1e-6 is rounding.",
    ),
]


@exercise("7.6")
def check_7_6(diagnose: Function) -> str:
    """A spread at the end means no average or no broadcast; the spread at the start shows which."""
    for start, end, rate, right, why in TRACES:
        found = diagnose(start, end, rate)
        if found != right:
            raise CheckFailed(f'diagnose({start:g}, {end:g}, {rate:g}) is "{right}"', shown(found),
                              why)  # fmt: skip
    return "The rate and the spreads at the start and at the end distinguish four faults."
