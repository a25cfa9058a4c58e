"""Compare the measured seconds in a record with the wall clock of its lines."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median_low

from autograder.codes import FindingCode as Code
from autograder.evidence.findings import finding
from autograder.measuring.interval import is_number
from autograder.records import Epoch, Number, Run, Where
from autograder.verdict import Finding

# A wall clock is corrected now and then. Steps between the header and the first line also take
# time.
CLOCK_SLACK_S = 5.0
# Longest evaluation and checkpoint between an epoch's lines, in units of its seconds.
LONGEST_PAUSE = 3
SLEEPS = ("laptop", "none")  # the clock for seconds stops while a laptop's lid is closed
# Seconds by which the clock of an epoch's two lines may exceed its time. Writing a line takes less,
# but on a busy machine a single line may take longer. Several epochs show whether it was one line.
# A single epoch may hide a quarter of a second, so speed is better graded by several.
WITHIN_S, ALONE_S = 0.02, 0.25

Timed = tuple[Epoch, float, Number]  # an epoch with its wall-clock seconds and measured seconds


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


def clock_goes_on(run: Run) -> Iterator[Finding]:
    """Check that the wall clock never goes back and leaves room for the measured seconds.

    Only the first finding is returned: if the clock is wrong, all later comparisons are wrong too.
    """
    timed = [
        (epoch, (epoch.ended_ms - epoch.began_ms) / 1000, epoch.seconds)
        for epoch in run.epochs
        if epoch.began_ms is not None and epoch.ended_ms is not None and epoch.seconds
    ]
    first = (
        never_back(run)
        or room_for_epochs(timed)
        or whole_run(run)
        or no_long_pauses(timed[1:])
        or as_long_as_stated(run, timed)
    )
    if first:
        yield first


def never_back(run: Run) -> Finding | None:
    moments: list[tuple[float | None, Where | None]] = [(run.began_ms, None)]
    for epoch in run.epochs:
        moments += [(epoch.began_ms, epoch.where), (epoch.ended_ms, epoch.where)]
    moments.append((run.ended_ms, run.total_seconds.where if run.total_seconds else None))
    in_order = [(ms / 1000, where) for ms, where in moments if ms is not None]
    for (before, place), (after, where) in pairwise(in_order):
        if after < before - CLOCK_SLACK_S:
            expected = "each line later than the one before"
            found = f"a line that is {before - after:,.1f} s earlier than the one before"
            return finding(Code.CLOCK_BACKWARDS, expected, found, [place, where])
    return None


def room_for_epochs(timed: Sequence[Timed]) -> Finding | None:
    for epoch, wall, seconds in timed:
        if seconds.value - seconds.half_width > 1.01 * wall + CLOCK_SLACK_S:
            expected, found = f"at most {wall:.4g} s by the clock", f"{seconds.value:.4g} s"
            return finding(Code.EPOCH_EXCEEDS_CLOCK, expected, found, [epoch.where])
    return None


def whole_run(run: Run) -> Finding | None:
    """Compare a run's reported total seconds with the timestamps of its first and last lines."""
    if run.began_ms is None or run.ended_ms is None or run.total_seconds is None:
        return None
    wall, stated = (run.ended_ms - run.began_ms) / 1000, run.total_seconds.value
    found, where = f"{stated:.4g} s", [run.total_seconds.where]
    if stated - wall > CLOCK_SLACK_S + 0.02 * wall:
        return finding(Code.RUN_EXCEEDS_CLOCK, f"{wall:.4g} s by the clock", found, where)
    if wall - stated > CLOCK_SLACK_S + 0.25 * stated and run.header.scheduler not in SLEEPS:
        return finding(Code.RUN_SHORT_OF_CLOCK, f"about {wall:.4g} s", found, where)
    return None


def no_long_pauses(later: Sequence[Timed]) -> Finding | None:
    """Compare the wall-clock time of each epoch after the first with its training time."""
    waited = sum(wall for _, wall, _ in later)
    trained = sum(seconds.value for _, _, seconds in later)
    if waited <= LONGEST_PAUSE * trained + CLOCK_SLACK_S:
        return None
    return finding(
        Code.EPOCHS_FAR_SHORT_OF_CLOCK,
        f"about {waited:.4g} s, evaluation and checkpoints included",
        f"{trained:.4g} s of training",
        [epoch.where for epoch, _, _ in later],
        "measure an epoch from its first to its last step, and evaluate less often",
    )


def as_long_as_stated(run: Run, timed: Sequence[Timed]) -> Finding | None:
    """Compare reported seconds with the clock if no evaluation can have run within the epoch.

    This is a finding only if more than half of the epochs differ, because a sleep or a slow write
    may have lengthened a single one.
    """
    paused = run.header.framework != "numpy"
    if not timed or (paused and any(e.val_accuracy or e.val_loss for e, _, _ in timed)):
        return None
    slack = ALONE_S if len(timed) == 1 else WITHIN_S
    if median_low(wall - 1.1 * seconds.value - slack for _, wall, seconds in timed) <= 0:
        return None
    return finding(
        Code.EPOCHS_SHORT_OF_CLOCK,
        f"about {sum(wall for _, wall, _ in timed):.4g} s together",
        f"{sum(seconds.value for _, _, seconds in timed):.4g} s",
        [epoch.where for epoch, _, _ in timed],
        "submit the output as the job wrote it; evaluate after an epoch, not during it",
    )
