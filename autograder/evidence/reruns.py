"""Compare a run with the instructor's own run of the submitted program.

A program that recognises the rerun can invent its output. Its output cannot have been prepared in
advance, though: it contains the id and time of a job that the student never saw.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from autograder.codes import FindingCode as Code
from autograder.evidence.accounting import moment
from autograder.evidence.consistency import fewest_epochs
from autograder.evidence.findings import finding
from autograder.measuring import measure
from autograder.measuring.interval import is_number
from autograder.records import Number, Run, Where
from autograder.safe_text import shortened
from autograder.settings.reruns import RepeatedJob
from autograder.verdict import Finding

CLOCK_SLACK_S = 60.0  # seconds between the clocks of nodes and of the machine that submits
# A rerun has the same seed, but threads and ranks add in another order. The accuracy may differ by
# a tenth of the error rate, and at least by this much.
ACCURACY_MARGIN = 0.02
LOSS_FACTOR, LOSS_MARGIN = 0.75, 0.05
# Two ranks that communicate a lot took 2.1 times as long in a rerun beside other work, and 5 times
# as long on a machine with three times more work than cores. So only undisturbed reruns are
# compared.
FASTER = 3.0
MACHINE = ("site", "device", "threads")


@dataclass(frozen=True, slots=True)
class Again:
    """The result of rerunning a run's program."""

    job: RepeatedJob
    run: Run | None
    why: str = ""  # why there is no run
    missed: tuple[Finding, ...] = ()  # conditions of the rubric that only the record meets
    not_compared: tuple[str, ...] = ()  # checks of the rubric


def compare(run: Run, again: Again) -> Iterator[Finding]:
    """Yield all differences between the record and its rerun. A reproduced run has none."""
    if again.run is None:
        expected = "a run like the one in the record"
        found = shortened(again.why, 160) + f" (job {again.job.job_id}: {again.job.state})"
        advice = "submit the program that made the output, with all modules beside it"
        yield finding(Code.RERUN_UNFINISHED, expected, found, run.rank_lines[:1], advice)
        return
    untrue = list(not_of_this_job(run, again.run, again.job))
    if not_comparable := untrue or list(other_data(run, again.run)):
        yield from not_comparable
        return
    yield from same_work(run, again.run)
    yield from same_accuracies(run, again.run)
    yield from same_losses(run, again.run)
    if again.job.undisturbed:
        yield from as_fast(run, again.run)
    yield from again.missed


def same_parameters(run: Run, again: Again) -> bool:
    """Return whether the parameters are equal to the last bit on every rank.

    They differ in many honest reruns, because threads add numbers in varying order.
    """
    mine, other = ([r.param_hash for r in one.ranks] for one in (run, again.run or run))
    return again.run is not None and mine == other and bool(mine) and None not in mine


# --- a record made during this job, from the same data -------------------------------------------


def not_of_this_job(run: Run, again: Run, job: RepeatedJob) -> Iterator[Finding]:
    started, seconds = moment(again.header.started), value(again.total_seconds)
    if started is None or not job.submitted - CLOCK_SLACK_S <= started <= job.ended + CLOCK_SLACK_S:
        expected, found = f"a start within job {job.job_id}", shortened(again.header.started, 40)
        yield finding(Code.RERUN_OTHER_TIME, expected, found, places(run))
    elif seconds is not None and seconds > job.ended - job.submitted + 2:
        expected, found = f"at most {job.ended - job.submitted:.4g} s", f"{seconds:.4g} s"
        yield finding(Code.RERUN_LONGER_THAN_JOB, expected, found, places(run))
    times, others = (
        [*(value(epoch.seconds) for epoch in one.epochs), *(e.value for e in one.measured("round"))]
        for one in (run, again)
    )
    if times and times == others and None not in times:
        expected = "slightly different times, as in any two runs"
        found = f"{len(times)} times equal to the last digit"
        yield finding(Code.RERUN_SAME_SECONDS, expected, found, places(run))


def other_data(run: Run, again: Run) -> Iterator[Finding]:
    mine, other = run.header.dataset, again.header.dataset
    if (mine.sha256, mine.synthetic) != (other.sha256, other.synthetic):
        stand_in = "the synthetic stand-in: give COURSE_DATA"
        found = stand_in if other.synthetic is True else "another data set"
        advice = "instructor: run it again with the data in COURSE_DATA"
        where = run.rank_lines[:1]
        yield finding(Code.RERUN_OTHER_DATA, "the data of the record", found, where, advice)


# --- the same work, the same result -------------------------------------------------------------


WORK: dict[Code, Callable[[Run], Any]] = {
    Code.RERUN_OTHER_RANKS: measure.workers,
    Code.RERUN_OTHER_EPOCHS: lambda run: len(run.epochs),
    Code.RERUN_OTHER_STEPS: lambda run: tuple(e.steps for e in run.epochs),
    Code.RERUN_OTHER_SAMPLES: lambda run: tuple(e.unique_samples for e in run.epochs),
    Code.RERUN_OTHER_BATCH: lambda run: run.header.global_batch,
    Code.RERUN_OTHER_PARAMETERS: lambda run: run.header.params,
    Code.RERUN_OTHER_MODEL: lambda run: run.header.model,
}


def same_work(run: Run, again: Run) -> Iterator[Finding]:
    both_stopped_early = stopped_early(run) and stopped_early(again)
    for code, read in WORK.items():
        recorded, repeated = read(run), read(again)
        # Compare the epochs that both have; the row above compares their number.
        if isinstance(recorded, tuple):
            common = min(len(recorded), len(repeated))
            recorded, repeated = recorded[:common], repeated[:common]
        if recorded in (None, ()) or recorded == repeated:
            continue
        if code != Code.RERUN_OTHER_EPOCHS or not both_stopped_early:
            expected, found = f"{in_words(recorded)} in the record", in_words(repeated)
            yield finding(code, expected, found, places(run))


def stopped_early(run: Run) -> bool:
    """Return whether the training stopped early, so a rerun may have more or fewer epochs."""
    due = fewest_epochs(run)
    return due is not None and len(run.epochs) < due


def in_words(fact: Any) -> str:
    return shortened(", ".join(map(str, fact[:8])) if isinstance(fact, tuple) else fact, 80)


ACCURACIES: dict[str, Callable[[Run], Number | None]] = {
    "test accuracy": lambda run: run.test_accuracy,
    "validation accuracy of the last epoch": lambda run: last(run, "val_accuracy"),
    "training accuracy of the last epoch": lambda run: last(run, "train_accuracy"),
}
LOSSES: dict[str, Callable[[Run], Number | None]] = {
    "test loss": lambda run: run.test_loss,
    "training loss of the last epoch": lambda run: last(run, "train_loss"),
}


def last(run: Run, name: str) -> Number | None:
    return getattr(run.epochs[-1], name) if run.epochs else None


def same_accuracies(run: Run, again: Run) -> Iterator[Finding]:
    for name, read in ACCURACIES.items():
        recorded, repeated = value(read(run)), value(read(again))
        if recorded is None:
            continue
        margin = max(ACCURACY_MARGIN, (1 - max(recorded, repeated or 0.0)) / 10)
        expected = f"{recorded:.4g} in the record, ± {margin:.2g}"
        found = "none" if repeated is None else f"{repeated:.4g}"
        if repeated is None or recorded > repeated + margin:
            yield finding(Code.RERUN_LOWER_ACCURACY, expected, found, places(run), name=name)
        elif repeated > recorded + margin:
            advice, where = "submit the program that made the output", places(run)
            yield finding(Code.RERUN_HIGHER_ACCURACY, expected, found, where, advice, name=name)


def same_losses(run: Run, again: Run) -> Iterator[Finding]:
    for name, read in LOSSES.items():
        recorded, repeated = value(read(run)), value(read(again))
        if recorded is None or repeated is None:
            continue
        if recorded < LOSS_FACTOR * repeated - LOSS_MARGIN:
            expected, found = f"{recorded:.4g} in the record", f"{repeated:.4g}"
            yield finding(Code.RERUN_HIGHER_LOSS, expected, found, places(run), name=name)


def on_same_machine(run: Run, again: Run) -> bool:
    return all(run.header.get(fact) == again.header.get(fact) for fact in MACHINE)


def as_fast(run: Run, again: Run) -> Iterator[Finding]:
    """Compare the rerun's fastest epoch with the record's median epoch, on the same machine."""
    if any(run.header.get(fact) is None for fact in MACHINE) or not on_same_machine(run, again):
        return
    times, others = (
        sorted(s for e in one.epochs if (s := value(e.seconds)) is not None) for one in (run, again)
    )
    middle = times[len(times) // 2] if times else 0.0
    if times and others and middle * FASTER < others[0]:
        expected = f"epochs of about {middle:.4g} s in the record"
        found, where = f"{others[0]:.4g} s at best", [epoch.where for epoch in run.epochs]
        advice = (
            "instructor: run it again on an idle node; the record's seconds may have been edited"
        )
        yield finding(Code.RERUN_FAR_SLOWER, expected, found, where, advice)


# --- shared by all of them ----------------------------------------------------------------------


def value(number: Number | None) -> float | None:
    return number.value if number is not None and is_number(number.value) else None


def places(run: Run) -> list[Where | None]:
    return [run.test_accuracy.where if run.test_accuracy else None, *run.rank_lines[:1]]
