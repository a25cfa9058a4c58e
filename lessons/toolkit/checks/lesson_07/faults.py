"""Check a diagnosis: a run's traces show which of five steps is missing (7.6)."""

from lessons.toolkit.checks.shared.check import CheckFailed, Function, exercise, shown

NOT_SENT = (
    "The ranks started with different parameters and never became equal (compare with 1e-6): "
    "rank 0's parameters were not sent."
)
# Spread before the first step, spread at the end, rate over the right rate; the missing step.
TRACES = [
    (0.0, 0.0, 1.0, "nothing", "The ranks' parameters are equal, and the rate is scaled."),
    (0.0, 0.17, 1.0, "average", "The ranks started equal and drifted apart: nothing is averaged."),
    (0.12, 0.21, 1.0, "broadcast", NOT_SENT),
    (0.21, 0.12, 1.0, "broadcast", NOT_SENT),
    (0.12, 0.0, 1.0, "early", "The ranks started with different parameters but ended with equal "
     "ones: rank 0's parameters were sent, but too late."),
    (0.0, 0.0, 0.125, "scale", "The ranks agree, but the rate is a part of what it should be."),
    (0.0, 0.17, 0.5, "average", "There are two faults: return the one that makes the result "
     "worthless."),
    (1e-8, 3e-7, 1.0, "nothing", "A spread of up to 1e-6 is rounding, not a fault."),
    (0.0, 2e-5, 1.0, "average", "Only a spread of up to 1e-6 is rounding."),
]  # fmt: skip


@exercise("7.6")
def check_7_6(diagnose: Function) -> str:
    """A spread at the end means no average or no broadcast; the spread at the start shows which."""
    for start, end, rate, right, why in TRACES:
        found = diagnose(start, end, rate)
        if found != right:
            expected = f'diagnose({start:g}, {end:g}, {rate:g}) is "{right}"'
            raise CheckFailed(expected, shown(found), why)
    return "The rate and the spreads at the start and at the end distinguish four faults."
