"""Check that the epochs fit into their run, and that the clock never goes backwards."""

from collections.abc import Iterator
from itertools import pairwise

from autograder.codes import FindingCode as Code
from autograder.evidence.findings import finding
from autograder.measuring.interval import is_number
from autograder.records import Run, Where
from autograder.verdict import Finding

# A wall clock is corrected now and then. Steps between the header and the first line also take
# time.
CLOCK_SLACK_S = 5.0


def times_add_up(run: Run) -> Iterator[Finding]:
    total = run.total_seconds
    if total is None or not is_number(total.value):
        return
    least = sum(e.seconds.value - e.seconds.half_width for e in run.epochs if e.seconds)
    most = total.value + total.half_width
    if least > most * 1.001 + 0.01:
        where = [total.where, *(e.where for e in run.epochs)]
        expected, found = f"at most {most:.4g} s together", f"{least:.4g} s"
        yield finding(Code.EPOCHS_EXCEED_RUN, expected, found, where)


def never_back(run: Run) -> Iterator[Finding]:
    """Report only the first step back: if the clock is wrong, later comparisons are wrong too."""
    moments: list[tuple[float | None, Where | None]] = [(run.began_ms, None)]
    for epoch in run.epochs:
        moments += [(epoch.began_ms, epoch.where), (epoch.ended_ms, epoch.where)]
    moments.append((run.ended_ms, run.total_seconds.where if run.total_seconds else None))
    in_order = [(ms / 1000, where) for ms, where in moments if ms is not None]
    for (before, place), (after, where) in pairwise(in_order):
        if after < before - CLOCK_SLACK_S:
            expected = "each line later than the one before"
            found = f"a line that is {before - after:,.1f} s earlier than the one before"
            yield finding(Code.CLOCK_BACKWARDS, expected, found, [place, where])
            return
