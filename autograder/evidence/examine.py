"""What can be believed about a run: contradictions within it, and the scheduler's word on it.

A tier, not a verdict. Contradicted: parts of the record cannot both be true. Unverified: the output
says too little to check. Self-consistent: everything that can be checked within the record agrees.
Confirmed: the scheduler's accounting, taken by the instructor, agrees too.
No points depend on it; a person looks.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from autograder.evidence import accounting, clock, consistency, exchange, plausible, ranks
from autograder.evidence.accounting import AccountedJob
from autograder.measuring.interval import Measure
from autograder.records import Run
from autograder.verdict import TIERS, Finding

# In the order in which their findings are told.
CHECKS: tuple[Callable[[Run], Iterator[Finding]], ...] = (
    consistency.chain_unbroken,
    ranks.every_rank_reports,
    ranks.every_rank_ends,
    ranks.as_many_as_asked,
    consistency.epochs_in_order,
    consistency.no_more_epochs_than_asked,
    clock.times_add_up,
    clock.clock_goes_on,
    consistency.oddities,
    consistency.samples_add_up,
    ranks.parameters_agree,
    ranks.hosts_agree,
    plausible.real_data,
    plausible.physically_possible,
    exchange.exchanges_possible,
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
    login: str | None = None,
    names_of: Callable[[Run], Sequence[str]] = lambda run: (),
) -> Examined:
    """Findings on all finished runs; the tier is that of the weakest run that counts. `names_of`
    says what the rubric calls a run, under which a calibration has its references."""
    findings: list[Finding] = []
    tiers = []
    for run in runs:
        if run.outcome != "completed":
            continue
        counts = any(run is other for other in that_count)
        of_run = [finding for check in CHECKS for finding in check(run)]
        of_run += plausible.convergence(run, names_of(run), references or {})
        if counts:
            of_run += plausible.diverged(run)
        of_job = list(accounting.compare(run, jobs, login)) if jobs is not None else []
        findings += [*of_run, *of_job]
        if counts:
            confirmed = jobs is not None and not of_job and accounting.confirms(run, jobs)
            tiers.append(tier_of(run, [*of_run, *of_job], confirmed))
    if not tiers:
        return Examined("unverified", "no finished run that counts", tuple(findings))
    tier, reason = min(tiers, key=lambda known: TIERS.index(known[0]))
    return Examined(tier, reason, tuple(findings))


def tier_of(run: Run, findings: Sequence[Finding], confirmed: bool) -> tuple[str, str]:
    """The tier of one run, and why."""
    wrong = [f.title for f in findings if f.contradicts]
    if wrong:
        return "contradicted", wrong[0]
    if run.chain_intact is None or not run.ranks:
        return "unverified", f"the output ({run.format}) has no run record"
    if confirmed:
        return "confirmed", "the run record agrees with itself and with the scheduler's accounting"
    return "self-consistent", "the run record agrees with itself"
