"""Determine how far a run can be trusted.

The result is an evidence level, not a verdict. Contradicted: parts of the record cannot both be
true. Unverified: the output contains too little information to check. Self-consistent: all parts of
the record that can be checked agree. Confirmed: the scheduler's accounting, exported by the
instructor, agrees too. Reproduced: the submitted program did the same when the instructor ran it.
No points depend on it; a person decides.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from autograder.codes import EvidenceLevel, Outcome
from autograder.evidence import accounting, copies
from autograder.evidence.accounting_dump import AccountedJob
from autograder.evidence.checks import check_run
from autograder.notes import Note
from autograder.records import Run
from autograder.verdict import TIERS


@dataclass(frozen=True, slots=True)
class Sources:
    """The sources of evidence about one student's lesson, apart from the run record."""

    jobs: Mapping[str, AccountedJob] | None = None  # the scheduler's accounting, if there is one
    # Accounts that may own their jobs; None: an unknown account.
    logins: Collection[str | None] = ()
    required: bool = False  # whether a run outside these jobs is something to look at


NO_SOURCES = Sources()


@dataclass(frozen=True, slots=True)
class Examined:
    tier: EvidenceLevel
    reason: str
    findings: tuple[Note, ...]


def examine(runs: Sequence[Run], counted: Sequence[Run], sources: Sources = NO_SOURCES) -> Examined:
    """Return the findings on all finished runs, and the level of the weakest run that counts."""
    findings: list[Note] = []
    tier, reason = None, "no finished run that counts"
    counted_ids = {run.id for run in counted}
    completed = [run for run in runs if run.outcome == Outcome.COMPLETED]
    copied = copies.within(completed)
    jobs = sources.jobs
    on_jobs = (
        {} if jobs is None else accounting.compare(runs, jobs, sources.logins, sources.required)
    )
    for run in completed:
        counts = run.id in counted_ids
        about = [*check_run(run), *copied.get(run.id, ()), *on_jobs.get(run.id, ())]
        findings += about
        if counts:
            level = tier_of(run, about, sources)
            if tier is None or TIERS.index(level[0]) < TIERS.index(tier):
                tier, reason = level
    # A fact about a job is listed only once.
    return Examined(tier or EvidenceLevel.UNVERIFIED, reason, tuple(dict.fromkeys(findings)))


def tier_of(run: Run, about: Sequence[Note], sources: Sources) -> tuple[EvidenceLevel, str]:
    """Return a run's evidence level and the reason, from the findings on the run."""
    wrong = [one.title for one in about if one.contradicts]
    if wrong:
        return EvidenceLevel.CONTRADICTED, wrong[0]
    if run.chain_intact is None or not run.ranks:
        return EvidenceLevel.UNVERIFIED, f"the output ({run.format}) has no run record"
    consistent = "the run record is consistent"
    if doubtful := [one for one in about if one.doubtful]:
        return EvidenceLevel.SELF_CONSISTENT, f"{consistent}, but: {doubtful[0].title}"
    job = sources.jobs and accounting.confirming_job(run, sources.jobs, sources.logins)
    if not job:
        return EvidenceLevel.SELF_CONSISTENT, consistent
    reason = f"{consistent} and agrees with the scheduler's accounting"
    if job.cpu_seconds is None:
        reason += ", which does not say how much the job computed: it may have slept"
    return EvidenceLevel.CONFIRMED, reason
