"""Compare a run's total time with the seconds of its epochs.

If they contradict each other, at least one of the two values does not measure what its name says.
Uncertain values are dropped.
"""

from dataclasses import replace

from autograder.reading.formats.mllog import FORMAT as MLPERF
from autograder.reading.formats.record import FORMAT as RECORD
from autograder.records import Number, Problem, Run, Where

APART = 1.1  # totals of one run from several ranks differ by less than this factor
LEAST = 0.25  # minimum fraction of a training's time that its epochs take


def agreed(run: Run, totals: list[Number]) -> Run:
    """Return the run without impossible values. `totals` are all total times that it printed."""
    if run.format in (RECORD, MLPERF) or run.total_seconds is None:
        return run
    where = run.total_seconds.where or Where(run.files[0], 1)
    values = [number.value for number in totals]
    if values and max(values) > APART * min(values):
        reason = "the printed run times differ, so they are the times of parts of the run"
        return without(run, where, reason, total=True)
    total = run.total_seconds.value
    seconds = [epoch.seconds.value for epoch in run.epochs if epoch.seconds is not None]
    if len(seconds) < 2 or len(seconds) < len(run.epochs):
        return run
    if sum(seconds) > APART * total + 1:
        reason = f"{total:g} s are printed for the run, but {sum(seconds):g} s for its epochs"
        return without(run, where, reason, total=True, epochs=True)
    if sum(seconds) < LEAST * total and total > 60:
        reason = f"{sum(seconds):g} s are printed for the epochs, but the run took {total:g} s"
        return without(run, where, reason, epochs=True)
    return run


def without(run: Run, where: Where, reason: str, total: bool = False, epochs: bool = False) -> Run:
    return replace(
        run,
        total_seconds=None if total else run.total_seconds,
        epochs=tuple(replace(e, seconds=None) for e in run.epochs) if epochs else run.epochs,
        problems=(*run.problems, Problem(where, "seconds", reason)),
    )
