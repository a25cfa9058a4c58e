"""Check a repaired function (7.5), and a diagnosis from a run's traces (7.6)."""

import io
import re
from types import SimpleNamespace
from typing import Any

import numpy as np

from lessons.toolkit.checks.shared.check import CheckFailed, Function, compare, exercise, shown
from lessons.toolkit.ranks import Hang, run_on_ranks

NOT_SENT = (
    "The ranks started with different parameters and never became equal (compare with 1e-6). Which "
    "step prevents that?"
)
# Spread before the first step, spread at the end, rate over the right rate; the missing step.
TRACES = [
    (0.0, 0.0, 1.0, "nothing", "The ranks' parameters are equal, and the rate is right."),
    (0.0, 0.17, 1.0, "average", "They started equal and drifted apart. What would prevent it?"),
    (0.12, 0.21, 1.0, "broadcast", NOT_SENT),
    (0.21, 0.12, 1.0, "broadcast", NOT_SENT),
    (0.12, 0.0, 1.0, "early", "The ranks started with different parameters but ended with equal "
     "ones. Which step was late?"),
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
            expected = f"the fault in diagnose({start:g}, {end:g}, {rate:g})"
            raise CheckFailed(expected, shown(found), why)
    return "The rate and the spreads at the start and at the end distinguish four faults."


@exercise("7.5")
def check_7_5(write_accuracy: Function) -> str:
    """All ranks go on, and one of them has written the mean of all their accuracies, once."""
    for accuracies in ([0.9, 0.93, 0.99], [0.6, 0.8]):
        check_writing(write_accuracy, accuracies)
    return "All ranks compute the mean, and one of them writes it."


def check_writing(write_accuracy: Function, accuracies: list[float]) -> None:
    expected = f"{len(accuracies)} ranks go on, and one line is written"
    averaging = set()

    def on_rank(comm: Any, accuracy: float) -> str:
        def allreduce(value: Any, *_: Any, op: Any = np.mean, **__: Any) -> Any:
            averaging.add(comm.Get_rank())
            return op(comm.from_all("allreduce", value), axis=0)

        numbers = {"rank": comm.Get_rank, "local_rank": comm.Get_rank, "size": comm.Get_size}
        file = io.StringIO()
        hvd = SimpleNamespace(**numbers, allreduce=allreduce, Average=np.mean, Sum=np.sum)
        write_accuracy(hvd, accuracy, file)
        return file.getvalue()

    try:
        written = run_on_ranks(on_rank, accuracies).results
    except Hang as hang:
        advice = "Rank 0 waits for the others. Which calls do they make?"
        raise CheckFailed(expected, f"it hangs: {hang}", advice) from None
    lines = [line for text in written for line in text.splitlines()]
    if len(averaging) < len(accuracies):
        advice = "One rank does not know the accuracies of the others. Which call gets them?"
        raise CheckFailed("every rank computes the mean", "nobody asks the others", advice)
    if len(lines) != 1:
        advice = "All ranks compute the mean. How many of them write it?"
        raise CheckFailed(expected, f"{len(lines)} lines", advice)
    written_numbers = [float(text) for text in re.findall(r"-?\d*\.?\d+(?:e-?\d+)?", lines[0])]
    if not written_numbers:
        raise CheckFailed("a line with the mean", shown(lines[0]), "Write what allreduce returns.")
    mean = float(np.mean(accuracies))
    nearest = min(written_numbers, key=lambda number: abs(number - mean))  # beside a label
    compare(nearest, mean, "the written mean", {accuracies[0]: "That is rank 0's own accuracy."})
