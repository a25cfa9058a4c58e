"""Check whether a record's lines, epochs, samples and ranks are consistent."""

import math
from collections.abc import Iterator
from itertools import chain as one_after_another
from itertools import islice

from autograder.codes import FindingCode, ProblemCode
from autograder.evidence.findings import finding
from autograder.measuring import measure
from autograder.measuring.interval import measured_or_none
from autograder.measuring.participants import shard_uncovered
from autograder.measuring.record_facts import train_samples
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


STOP_EARLY = ("gap",)  # programs of the course that stop as soon as they reach a target loss


def fewest_epochs(run: Run) -> float | None:
    """Return the requested number of epochs, which the ranks may divide among themselves."""
    requested, size = run.header.epochs_asked, run.header.world_size
    return math.ceil(requested / size) if requested and size and size >= 1 else requested


def as_many_epochs_as_asked(run: Run) -> Iterator[Finding]:
    """Check the number of epochs. A run that continues from a checkpoint keeps counting."""
    requested, due = run.header.epochs_asked, fewest_epochs(run)
    if not run.epochs or requested is None or due is None:
        return
    count, where = counted(len(run.epochs), "epoch"), [run.epochs[-1].where]
    if len(run.epochs) > requested:
        yield finding(FindingCode.MORE_EPOCHS_THAN_ASKED, f"{requested:g} epochs", count, where)
    if run.epochs[-1].number < due and run.header.source not in STOP_EARLY:
        yield finding(
            FindingCode.FEWER_EPOCHS_THAN_ASKED,
            f"{due:g} epochs",
            count,
            where,
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


# --- ranks ----------------------------------------------------------------------------------


def every_rank_begins_and_ends(run: Run) -> Iterator[Finding]:
    size = run.header.world_size
    if not run.ranks or size is None:
        return
    present = {r.rank for r in run.ranks}
    if len(present) != size or max(present) >= size:
        yield finding(
            FindingCode.RANK_MISSING,
            f"ranks 0 to {size - 1:g}",
            f"{counted(len(present), 'rank')} reported",
            run.rank_lines,
        )
    if gone := [r for r in run.ranks if not r.ended]:
        yield finding(
            FindingCode.RANK_WITHOUT_END,
            "every rank ends",
            f"no end of rank {', '.join(str(r.rank) for r in gone[:8])}",
            [r.where for r in gone],
            "call record.end() on every rank",
        )


def as_many_as_asked(run: Run) -> Iterator[Finding]:
    requested, size = run.header.ranks_asked, run.header.world_size
    if requested is not None and size is not None and requested != size:
        yield finding(
            FindingCode.OTHER_RANK_COUNT,
            counted(requested, "rank"),
            counted(size, "rank"),
            run.rank_lines,
            "start the program with `launch`, which uses the job's own launcher",
        )


def parameters_agree(run: Run) -> Iterator[Finding]:
    """Compare the ranks' parameter hashes with the reported parameter spread.

    Equal hashes mean no spread. The reverse holds only if the hashes and the spread are computed
    from the same parameters at the same time, as in `record.trained()`. Otherwise, the hash may
    cover more parameters than the spread.
    """
    hashes = [r.param_hash for r in run.ranks]
    spread = run.end.param_spread
    if len(hashes) < 2 or None in hashes or spread is None:
        return
    if len(set(hashes)) == 1 and spread > 0:
        yield finding(
            FindingCode.HASHES_AND_SPREAD,
            "a spread of 0, because all hashes are equal",
            f"spread {spread:g}",
            run.rank_lines,
        )
    together = all(r.start_hash for r in run.ranks) and run.end.param_moved is not None
    if together and len(set(hashes)) > 1 and spread == 0:
        yield finding(
            FindingCode.HASHES_AND_SPREAD,
            "equal hashes if the spread is 0",
            f"{len(set(hashes))} different hashes",
            run.rank_lines,
        )


def hosts_agree(run: Run) -> Iterator[Finding]:
    named = run.header.hosts
    hosts = run.host_names
    if named is not None and hosts and not set(hosts) <= set(named):
        yield finding(
            FindingCode.HOSTS_NOT_IN_HEADER,
            shortened(", ".join(named[:8]), 120),
            shortened(", ".join(hosts[:8]), 120),
            run.rank_lines,
        )


def same_program(run: Run) -> Iterator[Finding]:
    """Compare the program hashes of all ranks, including the one in rank 0's separate line."""
    stated = [(rank.program, rank.where) for rank in run.ranks if rank.program]
    if run.program and run.program.main and (first := run.program.files.get(run.program.main)):
        stated.insert(0, (first, None))
    others = [where for hash_, where in stated if hash_ != stated[0][0]]
    if others:
        yield finding(
            FindingCode.PROGRAMS_UNLIKE,
            "the same program on every rank",
            f"{len({hash_ for hash_, _ in stated})} different ones",
            others,
            "start all ranks with one command, and do not edit the program until all have started",
        )
