"""Check whether a record's lines, epochs, samples and ranks are consistent."""

import math
from collections.abc import Iterator

from autograder.codes import FindingCode as Code
from autograder.codes import ProblemCode
from autograder.evidence.findings import finding
from autograder.measuring import measure
from autograder.measuring.course_metrics import shard_uncovered
from autograder.measuring.interval import measured_or_none
from autograder.measuring.record_facts import train_samples
from autograder.records import Run
from autograder.safe_text import shortened
from autograder.verdict import Finding
from autograder.wording import counted

STOP_EARLY = ("gap",)  # programs of the course that stop as soon as they reach a target loss

# --- lines and epochs -----------------------------------------------------------------------


def chain_unbroken(run: Run) -> Iterator[Finding]:
    if run.chain_intact is False:
        where = [p.where for p in run.problems if p.code == ProblemCode.CHAIN_BROKEN]
        expected = "every line as the program wrote it, in order"
        yield finding(Code.CHAIN_BROKEN, expected, "a line is missing, moved or changed", where)


def oddities(run: Run) -> Iterator[Finding]:
    """Report everything in the record that no honest program writes."""
    for problem in [p for p in run.problems if p.code == ProblemCode.NEVER_WRITTEN][:3]:
        expected = "each line once, with numbers in the valid range"
        found = shortened(problem.reason, 160)
        advice = "submit each output once, as the job wrote it"
        yield finding(Code.NEVER_WRITTEN, expected, found, [problem.where], advice)


def epochs_in_order(run: Run) -> Iterator[Finding]:
    numbers = [e.number for e in run.epochs if not run.sparse]
    if numbers and numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        expected = f"epochs {numbers[0]}, {numbers[0] + 1}, …"
        found = shortened(", ".join(map(str, numbers[:20])), 80)
        yield finding(Code.EPOCHS_OUT_OF_ORDER, expected, found, [e.where for e in run.epochs])


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
        yield finding(Code.MORE_EPOCHS_THAN_ASKED, f"{requested:g} epochs", count, where)
    if run.epochs[-1].number < due and run.header.source not in STOP_EARLY:
        advice = (
            "submit the whole output; if training stops early on purpose, say so in your answers"
        )
        yield finding(Code.FEWER_EPOCHS_THAN_ASKED, f"{due:g} epochs", count, where, advice)


# --- samples --------------------------------------------------------------------------------


def samples_add_up(run: Run) -> Iterator[Finding]:
    """Check the samples read against every limit, and yield at most one finding.

    The limits are the training set, the steps × batch of each epoch, and the ranks' shares.
    """
    batch, size = run.header.global_batch, measured_or_none(train_samples, run)
    for epoch in run.epochs:
        unique, steps, where = epoch.unique_samples, epoch.steps, [epoch.where]
        if unique is None:
            continue
        if size and unique > size.value:
            yield finding(Code.MORE_SAMPLES_THAN_SET, f"at most {size.value:g}", f"{unique}", where)
            return
        if batch is not None and steps is not None and unique > steps * batch:
            expected = f"at most {steps} steps × batch {batch:g} = {steps * batch:g} samples"
            yield finding(Code.MORE_SAMPLES_THAN_STEPS, expected, f"{unique} samples", where)
            return
    uncovered = measured_or_none(shard_uncovered, run)
    claimed = measured_or_none(measure.unique_samples, run)
    if size and uncovered and claimed and claimed.value > size.value - uncovered.value:
        expected = f"at most {size.value - uncovered.value:g} different samples"
        yield finding(Code.SHARES_TOO_SMALL, expected, f"{claimed.value:g}", run.rank_lines)


# --- ranks ----------------------------------------------------------------------------------


def every_rank_begins_and_ends(run: Run) -> Iterator[Finding]:
    size = run.header.world_size
    if not run.ranks or size is None:
        return
    present = {r.rank for r in run.ranks}
    if len(present) != size or max(present) >= size:
        found = f"{counted(len(present), 'rank')} reported"
        yield finding(Code.RANK_MISSING, f"ranks 0 to {size - 1:g}", found, run.rank_lines)
    if gone := [r for r in run.ranks if not r.ended]:
        found = f"no end of rank {', '.join(str(r.rank) for r in gone[:8])}"
        where, advice = [r.where for r in gone], "call record.end() on every rank"
        yield finding(Code.RANK_WITHOUT_END, "every rank ends", found, where, advice)


def as_many_as_asked(run: Run) -> Iterator[Finding]:
    requested, size = run.header.ranks_asked, run.header.world_size
    if requested is not None and size is not None and requested != size:
        expected, found = counted(requested, "rank"), counted(size, "rank")
        advice = "start the program with `launch`, which uses the job's own launcher"
        yield finding(Code.OTHER_RANK_COUNT, expected, found, run.rank_lines, advice)


def parameters_agree(run: Run) -> Iterator[Finding]:
    """Compare the ranks' parameter hashes with the reported parameter spread.

    Equal hashes mean no spread. The reverse holds only if the hashes and the spread are computed
    from the same parameters at the same time, as in `record.trained()`. Otherwise, the hash may
    cover more parameters than the spread.
    """
    hashes, spread = [r.param_hash for r in run.ranks], run.end.param_spread
    if len(hashes) < 2 or None in hashes or spread is None:
        return
    different = len(set(hashes))
    together = all(r.start_hash for r in run.ranks) and run.end.param_moved is not None
    if different == 1 and spread > 0:
        expected, found = "a spread of 0, because all hashes are equal", f"spread {spread:g}"
        yield finding(Code.HASHES_AND_SPREAD, expected, found, run.rank_lines)
    elif different > 1 and spread == 0 and together:
        expected, found = "equal hashes if the spread is 0", f"{different} different hashes"
        yield finding(Code.HASHES_AND_SPREAD, expected, found, run.rank_lines)


def hosts_agree(run: Run) -> Iterator[Finding]:
    named, hosts = run.header.hosts, run.host_names
    if named is not None and not set(hosts) <= set(named):
        expected, found = (shortened(", ".join(names[:8]), 120) for names in (named, hosts))
        yield finding(Code.HOSTS_NOT_IN_HEADER, expected, found, run.rank_lines)


def same_program(run: Run) -> Iterator[Finding]:
    """Compare the program hashes of all ranks, including the one in rank 0's separate line."""
    stated = [(rank.program, rank.where) for rank in run.ranks if rank.program]
    if run.program and run.program.main and (first := run.program.files.get(run.program.main)):
        stated.insert(0, (first, None))
    others = [where for hash_, where in stated if hash_ != stated[0][0]]
    if others:
        found = f"{len({hash_ for hash_, _ in stated})} different ones"
        advice = (
            "start all ranks with one command, and do not edit the program until all have started"
        )
        expected = "the same program on every rank"
        yield finding(Code.PROGRAMS_UNLIKE, expected, found, others, advice)
