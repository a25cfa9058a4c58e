"""What can be believed about a run: contradictions within it, and the scheduler's word on it.

A tier, not a verdict. Contradicted: parts of the record cannot both be true. Unverified: the output
says too little to check. Self-consistent: everything that can be checked within the record agrees.
Confirmed: the scheduler's accounting, taken by the instructor, agrees too.
No points depend on it; a person looks.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from autograder.measure import is_number
from autograder.records import Run, Where
from autograder.verdict import Finding


@dataclass(frozen=True, slots=True)
class Seen:
    tier: str
    reason: str
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Job:
    """A job as the scheduler accounts for it."""

    job_id: str
    state: str
    start: float  # seconds since 1970
    end: float
    nodes: int
    tasks: int | None
    hosts: tuple[str, ...]


def examine(runs: Sequence[Run], counted: Sequence[Run], jobs: dict[str, Job] | None) -> Seen:
    """Findings on all finished runs; the tier is that of the weakest run that counts."""
    findings: list[Finding] = []
    tiers = []
    for run in runs:
        if run.outcome != "completed":
            continue
        found = [f for check in CHECKS for f in check(run)]
        findings += found
        if not any(run is c for c in counted):
            continue
        if any(f.contradicts for f in found):
            tiers.append(("contradicted", next(f.title for f in found if f.contradicts)))
        elif run.chain_intact is None or not run.ranks:
            tiers.append(("unverified", f"{run.format}: the output has no run record"))
        else:
            tiers.append(("self-consistent", "the run record agrees with itself"))
    if not tiers:
        return Seen("unverified", "no finished run that counts", tuple(findings))
    from autograder.verdict import TIERS

    tier, reason = min(tiers, key=lambda t: TIERS.index(t[0]))
    return Seen(tier, reason, tuple(findings))


def contradiction(title: str, expected: Any, found: Any, where: Sequence[Where], try_: str = ""):
    return Finding(
        "evidence",
        title,
        str(expected),
        str(found),
        tuple(where),
        try_ or "hand in the output as the job wrote it",
        look=True,
        contradicts=True,
    )


def chain(run: Run) -> Iterator[Finding]:
    if run.chain_intact is False:
        where = [p.where for p in run.problems if "chain" in p.reason][:3]
        yield contradiction(
            "The record's lines do not follow on each other",
            "every line as the program wrote it, in order",
            "a line is missing, moved or changed",
            where,
        )


def ranks(run: Run) -> Iterator[Finding]:
    asked, size = run.header.get("ranks_asked"), run.header.get("world_size")
    present = len(run.ranks)
    where = [r.where for r in run.ranks if r.where][:4]
    if run.ranks and is_number(size) and present != size:
        yield contradiction(
            "Not every rank took part", f"{size} ranks", f"{present} reported", where
        )
    if is_number(asked) and is_number(size) and asked != size:
        yield Finding(
            "evidence",
            "Another number of ranks ran than was asked for",
            f"{asked} ranks",
            f"{size} ranks",
            tuple(where),
            "start the program with `launch`, which uses the job's own launcher",
            look=True,
        )


CHECKS: tuple[Callable[[Run], Iterator[Finding]], ...] = (chain, ranks)
