"""Check whether a record's lines, epochs and samples agree with each other."""

import math
from collections.abc import Iterator
from itertools import chain as one_after_another
from itertools import islice

from autograder.codes import FindingCode, ProblemCode
from autograder.evidence.findings import finding
from autograder.measuring import measure
from autograder.measuring.interval import measured_or_none
from autograder.measuring.record_facts import train_samples
from autograder.measuring.sample_shares import shard_uncovered
from autograder.records import Run
from autograder.safe_text import shortened
from autograder.verdict import Finding
from autograder.wording import counted

# --- lines ----------------------------------------------------------------------------------


def chain_unbroken(run: Run) -> Iterator[Finding]:
    if run.chain_intact is False:
        yield finding(
            FindingCode.CHAIN_BROKEN,
            "every line as the program wrote it, in order",
            "a line is missing, moved or changed",
            [p.where for p in run.problems if p.code == ProblemCode.CHAIN_BROKEN],
        )


def oddities(run: Run) -> Iterator[Finding]:
    """Report everything in the record that no honest program writes."""
    for problem in [p for p in run.problems if p.code == ProblemCode.NEVER_WRITTEN][:3]:
        yield finding(
            FindingCode.NEVER_WRITTEN,
            "each line once, with numbers in the valid range",
            shortened(problem.reason, 160),
            [problem.where],
            "submit each output once, as the job wrote it",
        )


# --- epochs ---------------------------------------------------------------------------------


def epochs_in_order(run: Run) -> Iterator[Finding]:
    numbers = [e.number for e in run.epochs]
    if numbers and numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        yield finding(
            FindingCode.EPOCHS_OUT_OF_ORDER,
            f"epochs {numbers[0]}, {numbers[0] + 1}, …",
            shortened(", ".join(map(str, numbers[:20])), 80),
            [e.where for e in run.epochs],
        )


def no_more_epochs_than_asked(run: Run) -> Iterator[Finding]:
    requested, count = run.header.epochs_asked, len(run.epochs)
    if requested is not None and count > requested:
        yield finding(
            FindingCode.MORE_EPOCHS_THAN_ASKED,
            f"{requested:g} epochs",
            f"{count} epochs",
            [epoch.where for epoch in run.epochs[-1:]],
        )


STOP_EARLY = ("gap",)  # programs of the course that stop as soon as they reach a target loss


def no_fewer_epochs_than_asked(run: Run) -> Iterator[Finding]:
    """Check that the run has the requested number of epochs.

    Ranks may divide the epochs among themselves, and a run that continues from a checkpoint keeps
    counting.
    """
    requested, size = run.header.epochs_asked, run.header.world_size
    if not run.epochs or requested is None or run.header.source in STOP_EARLY:
        return
    due = math.ceil(requested / size) if size and size >= 1 else requested
    if run.epochs[-1].number < due:
        yield finding(
            FindingCode.FEWER_EPOCHS_THAN_ASKED,
            f"{due:g} epochs",
            counted(len(run.epochs), "epoch"),
            [epoch.where for epoch in run.epochs[-1:]],
            "submit the whole output; if training stops early on purpose, say so in your answers",
        )


# --- samples --------------------------------------------------------------------------------


def samples_add_up(run: Run) -> Iterator[Finding]:
    """Check the number of samples read against every limit, and yield at most one finding."""
    yield from islice(one_after_another(_epochs_hold_them(run), _shares_hold_them(run)), 1)


def _epochs_hold_them(run: Run) -> Iterator[Finding]:
    """Check each epoch's samples against steps × batch and the size of the training set."""
    batch, size = run.header.global_batch, measured_or_none(train_samples, run)
    for epoch in run.epochs:
        unique = epoch.unique_samples
        if unique is None:
            continue
        if size and unique > size.value:
            yield finding(
                FindingCode.MORE_SAMPLES_THAN_SET,
                f"at most {size.value:g}",
                f"{unique}",
                [epoch.where],
            )
        if batch is not None and epoch.steps is not None and unique > epoch.steps * batch:
            yield finding(
                FindingCode.MORE_SAMPLES_THAN_STEPS,
                f"at most {epoch.steps} steps × batch {batch:g} = {epoch.steps * batch:g} samples",
                f"{unique} samples",
                [epoch.where],
            )


def _shares_hold_them(run: Run) -> Iterator[Finding]:
    size = measured_or_none(train_samples, run)
    uncovered = measured_or_none(shard_uncovered, run)
    claimed = measured_or_none(measure.unique_samples, run)
    if size and uncovered and claimed and claimed.value > size.value - uncovered.value:
        yield finding(
            FindingCode.SHARES_TOO_SMALL,
            f"at most {size.value - uncovered.value:g} different samples",
            f"{claimed.value:g}",
            run.rank_lines,
        )
