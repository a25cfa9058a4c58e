"""The check of which of five steps is missing, from the traces of a run (7.6)."""

from collections.abc import Callable
from typing import Any

from lessons.toolkit.checks.shared.check import CheckFailed, exercise, shown

Function = Callable[..., Any]

# Spread before the first step, spread at the end, rate over the right rate; the missing step.
TRACES = [
    (0.0, 0.0, 1.0, "nothing", "Equal at the start and at the end, with the scaled rate."),
    (0.0, 0.17, 1.0, "average", "They started equal and drifted apart: nothing is averaged."),
    (0.12, 0.21, 1.0, "broadcast", "They started different and stayed so: nobody sends the start."),
    (0.21, 0.12, 1.0, "broadcast", "A spread that got smaller is still one: compare with 1e-6."),
    (0.12, 0.0, 1.0, "early", "They started different and ended equal: sent, but too late."),
    (0.0, 0.0, 0.5, "scale", "The ranks agree, and the rate is half of what it should be."),
    (0.0, 0.0, 0.125, "scale", "On 8 ranks the rate of one is an eighth."),
    (0.0, 0.17, 0.5, "average", "Two faults: name the one that makes the result worthless."),
    (1e-8, 3e-7, 1.0, "nothing", "A spread up to 1e-6 is rounding, not a fault."),
    (0.0, 2e-5, 1.0, "average", "A small spread is one: only up to 1e-6 is it rounding."),
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
