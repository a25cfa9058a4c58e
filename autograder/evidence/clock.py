"""Compare the measured seconds in a record with the wall clock of its lines."""

from collections.abc import Iterator
from itertools import chain, islice, pairwise
from statistics import median

from autograder.codes import FindingCode
from autograder.evidence.findings import finding
from autograder.measuring.interval import is_number
from autograder.records import Epoch, Number, Run, Where
from autograder.verdict import Finding


def times_add_up(run: Run) -> Iterator[Finding]:
    if run.total_seconds is None or not is_number(run.total_seconds.value):
        return
    seconds = [e.seconds for e in run.epochs if e.seconds is not None]
    least = sum(s.value - s.half_width for s in seconds)
    total = run.total_seconds.value + run.total_seconds.half_width
    if least > total * 1.001 + 0.01:
        yield finding(
            FindingCode.EPOCHS_EXCEED_RUN,
            f"at most {total:.4g} s together",
            f"{least:.4g} s",
            [run.total_seconds.where, *(e.where for e in run.epochs)],
        )


# A wall clock is corrected now and then. Steps between the header and the first line also take
# time.
CLOCK_SLACK_S = 5.0
# Longest evaluation and checkpoint between an epoch's lines, in units of its seconds.
LONGEST_PAUSE = 3


def clock_goes_on(run: Run) -> Iterator[Finding]:
    """Check that the wall clock never goes back and leaves room for the measured seconds.

    Only the first finding is returned: if the clock is wrong, all later comparisons are wrong too.
    """
    checks = (_never_back, _room_for_epochs, _whole_run, _no_long_pauses, _as_long_as_said)
    yield from islice(chain.from_iterable(check(run) for check in checks), 1)


def _never_back(run: Run) -> Iterator[Finding]:
    moments: list[tuple[float | None, Where | None]] = [(run.began_ms, None)]
    for epoch in run.epochs:
        moments += [(epoch.began_ms, epoch.where), (epoch.ended_ms, epoch.where)]
    moments.append((run.ended_ms, run.total_seconds.where if run.total_seconds else None))
    in_order = [(ms / 1000, where) for ms, where in moments if ms is not None]
    for (before, place), (after, where) in pairwise(in_order):
        if after < before - CLOCK_SLACK_S:
            yield finding(
                FindingCode.CLOCK_BACKWARDS,
                "each line later than the one before",
                f"a line that is {before - after:,.1f} s earlier than the one before",
                [place, where],
            )


def _by_the_clock(run: Run) -> Iterator[tuple[Epoch, float, Number]]:
    """Yield each epoch with its wall-clock seconds and its measured seconds."""
    for epoch in run.epochs:
        if epoch.began_ms is not None and epoch.ended_ms is not None and epoch.seconds:
            yield epoch, (epoch.ended_ms - epoch.began_ms) / 1000, epoch.seconds


def _room_for_epochs(run: Run) -> Iterator[Finding]:
    for epoch, wall, seconds in _by_the_clock(run):
        if seconds.value - seconds.half_width > 1.01 * wall + CLOCK_SLACK_S:
            yield finding(
                FindingCode.EPOCH_EXCEEDS_CLOCK,
                f"at most {wall:.4g} s by the clock",
                f"{seconds.value:.4g} s",
                [epoch.where],
            )


def _whole_run(run: Run) -> Iterator[Finding]:
    """Compare a run's reported total seconds with the timestamps of its first and last lines."""
    if run.began_ms is None or run.ended_ms is None or run.total_seconds is None:
        return
    wall, stated = (run.ended_ms - run.began_ms) / 1000, run.total_seconds.value
    if stated - wall > CLOCK_SLACK_S + 0.02 * wall:
        yield finding(
            FindingCode.RUN_EXCEEDS_CLOCK,
            f"{wall:.4g} s by the clock",
            f"{stated:.4g} s",
            [run.total_seconds.where],
        )
    elif wall - stated > CLOCK_SLACK_S + 0.25 * stated and run.header.scheduler not in SLEEPS:
        yield finding(
            FindingCode.RUN_SHORT_OF_CLOCK,
            f"about {wall:.4g} s",
            f"{stated:.4g} s",
            [run.total_seconds.where],
        )


SLEEPS = ("laptop", "none")  # the clock for seconds stops while a laptop's lid is closed
# Seconds; nothing else happens between an epoch's two lines, and writing them takes less.
WITHIN_S = 0.02


def _as_long_as_said(run: Run) -> Iterator[Finding]:
    """Compare reported seconds with the clock if no evaluation can have run within the epoch.

    This is a finding only if most epochs differ, because a single one may include a sleep or a slow
    write.
    """
    pairs = list(_by_the_clock(run))
    paused = run.header.framework != "numpy"
    if not pairs or (paused and any(e.val_accuracy or e.val_loss for e, _, _ in pairs)):
        return
    if median(wall - 1.1 * seconds.value - WITHIN_S for _, wall, seconds in pairs) > 0:
        yield finding(
            FindingCode.EPOCHS_SHORT_OF_CLOCK,
            f"about {sum(wall for _, wall, _ in pairs):.4g} s together",
            f"{sum(seconds.value for _, _, seconds in pairs):.4g} s",
            [epoch.where for epoch, _, _ in pairs],
            "submit the output as the job wrote it; evaluate after an epoch, not during it",
        )


def _no_long_pauses(run: Run) -> Iterator[Finding]:
    later = list(_by_the_clock(run))[1:]
    waited = sum(wall for _, wall, _ in later)
    trained = sum(seconds.value for _, _, seconds in later)
    if waited > LONGEST_PAUSE * trained + CLOCK_SLACK_S:
        yield finding(
            FindingCode.EPOCHS_FAR_SHORT_OF_CLOCK,
            f"about {waited:.4g} s, evaluation and checkpoints included",
            f"{trained:.4g} s of training",
            [epoch.where for epoch, _, _ in later],
            "measure an epoch from its first to its last step, and evaluate less often",
        )
