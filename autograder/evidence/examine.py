"""Determine how far a run can be trusted.

The result is an evidence level, not a verdict. Contradicted: parts of the record cannot both be
true. Unverified: the output contains too little information to check. Self-consistent: all parts of
the record that can be checked agree. Confirmed: the scheduler's accounting, exported by the
instructor, agrees too. Reproduced: the submitted program did the same when the instructor ran it.
No points depend on it; a person decides.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from autograder.codes import EvidenceLevel, FindingCode, Outcome
from autograder.evidence import (
    accounting,
    clock,
    consistency,
    copies,
    job_totals,
    plausible,
    reruns,
    rounds,
    said_twice,
)
from autograder.evidence.accounting_dump import AccountedJob
from autograder.evidence.findings import doubts, finding
from autograder.evidence.reruns import Again
from autograder.measuring.interval import Measure
from autograder.records import Run
from autograder.verdict import TIERS, Finding

# In the order in which their findings are listed.
CHECKS: tuple[Callable[[Run], Iterator[Finding]], ...] = (
    consistency.chain_unbroken,
    consistency.every_rank_begins_and_ends,
    consistency.as_many_as_asked,
    consistency.same_program,
    consistency.epochs_in_order,
    consistency.as_many_epochs_as_asked,
    clock.times_add_up,
    clock.clock_goes_on,
    consistency.oddities,
    consistency.samples_add_up,
    consistency.parameters_agree,
    consistency.hosts_agree,
    said_twice.end_as_evaluated,
    said_twice.device_as_in_header,
    said_twice.begun_as_said,
    said_twice.job_as_printed,
    said_twice.test_as_printed,
    said_twice.epochs_as_printed,
    said_twice.no_error_beside_success,
    plausible.data_as_known,
    plausible.real_data,
    plausible.physically_possible,
    plausible.exchanges_possible,
    rounds.rounds_add_up,
    rounds.as_long_as_the_clock_says,
    rounds.as_many_cores,
    rounds.as_much_work,
    rounds.faster_than_ranks_can_be,
)


@dataclass(frozen=True, slots=True)
class Sources:
    """The sources of evidence about one student's lesson, apart from the run record."""

    jobs: Mapping[str, AccountedJob] | None = None  # the scheduler's accounting, if there is one
    # Accounts that may own their jobs; None: an unknown account.
    logins: Collection[str | None] = ()
    references: Mapping[str, Measure] = field(default_factory=dict)  # the values of a calibration
    reruns: Mapping[str, Again] = field(default_factory=dict)  # by the id of the launch


NO_SOURCES = Sources()


@dataclass(frozen=True, slots=True)
class Examined:
    tier: EvidenceLevel
    reason: str
    findings: tuple[Finding, ...]


def examine(
    runs: Sequence[Run],
    counted: Sequence[Run],
    sources: Sources = NO_SOURCES,
    names_of: Callable[[Run], Sequence[str]] = lambda run: (),
) -> Examined:
    """Return the findings on all finished runs, and the level of the weakest run that counts.

    `names_of` returns a run's names in the rubric. A calibration lists references by these names.
    """
    findings: list[Finding] = []
    tiers = []
    counted_ids = {run.id for run in counted}
    completed = [run for run in runs if run.outcome == Outcome.COMPLETED]
    copied = copies.within(completed)
    on_jobs = job_totals.compare(runs, sources.jobs or {})
    for run in completed:
        about = [one for check in CHECKS for one in check(run)]
        about += plausible.convergence(run, names_of(run), sources.references)
        counts = run.id in counted_ids
        if counts:
            about += plausible.diverged(run)
        about += copied.get(run.id, [])
        if sources.jobs is not None:
            about += accounting.compare(run, sources.jobs, sources.logins)
            about += on_jobs.get(run.id, [])
        again = sources.reruns.get(run.launch) if counts else None
        on_rerun = list(findings_on_rerun(run, again)) if again else []
        findings += [*about, *on_rerun]
        if counts:
            tiers.append(tier_of(run, about, on_rerun, sources))
    findings = list(dict.fromkeys(findings))  # list a fact about a job only once
    if not tiers:
        return Examined(EvidenceLevel.UNVERIFIED, "no finished run that counts", tuple(findings))
    tier, reason = min(tiers, key=lambda pair: TIERS.index(pair[0]))
    return Examined(tier, reason, tuple(findings))


def findings_on_rerun(run: Run, again: Again) -> Iterator[Finding]:
    """Yield the differences between a run and its rerun, and contradictions within the rerun."""
    yield from reruns.compare(run, again)
    findings = (one for check in CHECKS for one in check(again.run)) if again.run else iter(())
    for wrong in (one for one in findings if one.contradicts):
        code, found = FindingCode.RERUN_CONTRADICTS_ITSELF, f"{wrong.title}: {wrong.found}"
        yield finding(code, wrong.expected, found, reruns.places(run))
        return


def tier_of(
    run: Run, about: Sequence[Finding], on_rerun: Sequence[Finding], sources: Sources
) -> tuple[EvidenceLevel, str]:
    """Return a run's evidence level and the reason, from the findings on the run and its rerun."""
    wrong = [one.title for one in (*about, *on_rerun) if one.contradicts]
    if wrong:
        return EvidenceLevel.CONTRADICTED, wrong[0]
    if run.chain_intact is None or not run.ranks:
        return EvidenceLevel.UNVERIFIED, f"the output ({run.format}) has no run record"
    doubtful = doubts(about)
    if doubtful:
        reason = f"the run record is consistent, but: {doubtful[0].title}"
        return EvidenceLevel.SELF_CONSISTENT, reason
    job = accounting.confirming_job(run, sources.jobs or {}, sources.logins)
    again = sources.reruns.get(run.launch)
    if again is not None and not on_rerun and (job or sources.jobs is None):
        more = ", to the last bit of its parameters" if reruns.same_parameters(run, again) else ""
        and_accounting = " and the scheduler's accounting agrees" if job else ""
        reason = f"the instructor's rerun had the same results{more}{and_accounting}"
        if again.not_compared:
            reason += f"; not compared: {', '.join(again.not_compared)}"
        return EvidenceLevel.REPRODUCED, reason
    if job:
        reason = "the run record is consistent and agrees with the scheduler's accounting"
        if job.cpu_seconds is None:
            reason += ", which does not say how much the job computed: it may have slept"
        return EvidenceLevel.CONFIRMED, reason
    return EvidenceLevel.SELF_CONSISTENT, "the run record is consistent"
