"""Check a record's ranks: how many there are, which of them report and end, and where."""

from collections.abc import Iterator

from autograder.codes import FindingCode
from autograder.evidence.findings import finding
from autograder.records import Run
from autograder.safe_text import shortened
from autograder.verdict import Finding
from autograder.wording import counted


def every_rank_reports(run: Run) -> Iterator[Finding]:
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


def every_rank_ends(run: Run) -> Iterator[Finding]:
    gone = [r for r in run.ranks if not r.ended]
    if gone and run.header.world_size is not None:
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
