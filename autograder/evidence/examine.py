"""What can be believed about a run: contradictions within it, and the scheduler's word on it.

A tier, not a verdict. Contradicted: parts of the record cannot both be true. Unverified: the output
says too little to check. Self-consistent: everything that can be checked within the record agrees.
Confirmed: the scheduler's accounting, taken by the instructor, agrees too.
Reproduced: the program handed in did it again for the instructor.
No points depend on it; a person looks.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from autograder.evidence import (
    accounting,
    clock,
    consistency,
    copies,
    exchange,
    known_data,
    plausible,
    ranks,
    reruns,
    rounds,
    said_twice,
)
from autograder.evidence.accounting_dump import AccountedJob
from autograder.evidence.findings import contradiction
from autograder.evidence.reruns import Again
from autograder.measuring.interval import Measure
from autograder.records import Run
from autograder.verdict import TIERS, Finding

EvidenceCheck = Callable[[Run], Iterator[Finding]]

# In the order in which their findings are told.
CHECKS: tuple[EvidenceCheck, ...] = (
    consistency.chain_unbroken,
    ranks.every_rank_reports,
    ranks.every_rank_ends,
    ranks.as_many_as_asked,
    ranks.same_program,
    consistency.epochs_in_order,
    consistency.no_more_epochs_than_asked,
    consistency.no_fewer_epochs_than_asked,
    clock.times_add_up,
    clock.clock_goes_on,
    consistency.oddities,
    consistency.samples_add_up,
    ranks.parameters_agree,
    ranks.hosts_agree,
    said_twice.end_as_evaluated,
    said_twice.device_as_in_header,
    said_twice.begun_as_said,
    said_twice.job_as_printed,
    said_twice.test_as_printed,
    said_twice.epochs_as_printed,
    said_twice.no_error_beside_success,
    known_data.data_as_known,
    plausible.real_data,
    plausible.physically_possible,
    exchange.exchanges_possible,
    rounds.rounds_add_up,
    rounds.faster_than_ranks_can_be,
)
# A run of which the same output says something else is not confirmed, whoever is right.
DOUBTS: tuple[EvidenceCheck, ...] = (
    clock.clock_goes_on,
    consistency.no_fewer_epochs_than_asked,
    said_twice.job_as_printed,
    said_twice.test_as_printed,
    said_twice.epochs_as_printed,
    said_twice.no_error_beside_success,
    known_data.data_as_known,
)


@dataclass(frozen=True, slots=True)
class Examined:
    tier: str
    reason: str
    findings: tuple[Finding, ...]


def examine(
    runs: Sequence[Run],
    that_count: Sequence[Run],
    jobs: Mapping[str, AccountedJob] | None,
    references: Mapping[str, Measure] | None = None,
    logins: Collection[str | None] = (),
    names_of: Callable[[Run], Sequence[str]] = lambda run: (),
    marked: Mapping[int, copies.Marks] | None = None,
    again: Mapping[str, Again] | None = None,
) -> Examined:
    """Findings on all finished runs; the tier is that of the weakest run that counts. `names_of`
    says what the rubric calls a run, under which a calibration has its references; `logins`, whose
    the jobs may be, None of somebody whose account the roster does not tell; `marked`, by
    what it is known again; `again` has what became of runs, by launch, when the instructor ran
    their programs."""
    findings: list[Finding] = []
    tiers = []
    copied = copies.within([run for run in runs if run.outcome == "completed"], marked or {})
    too_long = accounting.too_long(runs, jobs) if jobs is not None else {}
    for run in runs:
        if run.outcome != "completed":
            continue
        counts = any(run is other for other in that_count)
        checked = [(check, finding) for check in CHECKS for finding in check(run)]
        doubted = [finding for check, finding in checked if check in DOUBTS]
        of_run = [finding for _, finding in checked]
        of_run += plausible.convergence(run, names_of(run), references or {})
        if counts:
            of_run += plausible.diverged(run)
        of_run += copied.get(id(run), [])
        of_job = list(accounting.compare(run, jobs, logins)) if jobs is not None else []
        repeated = (again or {}).get(run.launch) if counts else None
        of_rerun = list(of_repeated(run, repeated)) if repeated else []
        of_job += [too_long[id(run)]] if id(run) in too_long else []
        findings += [*of_run, *of_job, *of_rerun]
        if counts:
            agrees = not of_job and not doubted and not copied.get(id(run))
            confirmed = jobs is not None and agrees and accounting.confirms(run, jobs, logins)
            doubts = [*doubted, *copied.get(id(run), []), *of_job]
            repeats = (
                repeated if not of_rerun and not doubts and (confirmed or jobs is None) else None
            )
            wrong = [*of_run, *of_job, *of_rerun]
            tiers.append(tier_of(run, wrong, doubts, confirmed, repeats))
    findings = list(dict.fromkeys(findings))  # what is said of a job is said once
    if not tiers:
        return Examined("unverified", "no finished run that counts", tuple(findings))
    tier, reason = min(tiers, key=lambda known: TIERS.index(known[0]))
    return Examined(tier, reason, tuple(findings))


def of_repeated(run: Run, again: Again) -> Iterator[Finding]:
    """How the rerun differs, and whether it can be believed itself."""
    yield from reruns.compare(run, again)
    of_rerun = (f for check in CHECKS for f in check(again.run)) if again.run else iter(())
    for finding in (f for f in of_rerun if f.contradicts):
        title = "What the program printed contradicts itself" + reruns.AGAIN
        found = f"{finding.title}: {finding.found}"
        yield contradiction(title, finding.expected, found, reruns.places(run))
        return


def tier_of(
    run: Run,
    findings: Sequence[Finding],
    doubts: Sequence[Finding],
    confirmed: bool,
    again: Again | None = None,
) -> tuple[str, str]:
    """The tier of one run, and why."""
    wrong = [f.title for f in findings if f.contradicts]
    if wrong:
        return "contradicted", wrong[0]
    if run.chain_intact is None or not run.ranks:
        return "unverified", f"the output ({run.format}) has no run record"
    if again is not None:
        more = ", to the last bit of its parameters" if reruns.same_parameters(run, again) else ""
        known = " and the scheduler's accounting agrees" if confirmed else ""
        return "reproduced", f"the program did the same for the instructor{more}{known}"
    if confirmed:
        return "confirmed", "the run record agrees with itself and with the scheduler's accounting"
    if doubts:
        return "self-consistent", f"the run record agrees with itself alone: {doubts[0].title}"
    return "self-consistent", "the run record agrees with itself"
