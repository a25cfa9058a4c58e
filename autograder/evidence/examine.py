"""What can be believed about a run: contradictions within it, and the scheduler's word on it.

A tier, not a verdict. Contradicted: parts of the record cannot both be true. Unverified: the output
says too little to check. Self-consistent: everything that can be checked within the record agrees.
Confirmed: the scheduler's accounting, taken by the instructor, agrees too.
No points depend on it; a person looks.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from autograder.evidence import accounting
from autograder.evidence.accounting import AccountedJob
from autograder.evidence.clock import clock_goes_on, times_add_up
from autograder.evidence.suspicions import contradiction, odd
from autograder.measuring import measure
from autograder.measuring.measure import Measure, is_number, measured_or_none
from autograder.measuring.sample_shares import shard_uncovered
from autograder.records import Run, Where
from autograder.safe_text import printable
from autograder.verdict import TIERS, Finding
from autograder.wording import counted

# Peak FLOP/s of one device at its fastest dense 16-bit rate, from the makers' data sheets;
# a part of the name that the record gives. Training takes at least 6 operations a parameter
# and sample, convolutions more, so this bound is generous.
PEAK_FLOPS = {
    "GH200": 990e12,
    "H200": 990e12,
    "H100": 990e12,
    "A100": 312e12,
    "V100": 125e12,
    "P100": 21e12,
    "T4": 65e12,
    "L40": 362e12,
    "MI250": 383e12,
    "MI300": 1307e12,
    "CPU": 20e12,  # a whole node of the fastest kind
}


@dataclass(frozen=True, slots=True)
class Seen:
    tier: str
    reason: str
    findings: tuple[Finding, ...]


def examine(
    runs: Sequence[Run],
    counted: Sequence[Run],
    jobs: Mapping[str, AccountedJob] | None,
    references: Mapping[str, Measure] | None = None,
    login: str | None = None,
) -> Seen:
    """Findings on all finished runs; the tier is that of the weakest run that counts."""
    findings: list[Finding] = []
    tiers = []
    for run in runs:
        if run.outcome != "completed":
            continue
        found = [f for check in CHECKS for f in check(run)]
        found += convergence(run, references or {})
        if any(run is c for c in counted):
            found += diverged(run)
        disagrees = list(accounting.compare(run, jobs, login)) if jobs is not None else []
        found += disagrees
        findings += found
        if any(run is c for c in counted):
            confirmed = jobs is not None and not disagrees and accounting.confirms(run, jobs)
            tiers.append(tier_of(run, found, confirmed))
    if not tiers:
        return Seen("unverified", "no finished run that counts", tuple(findings))
    tier, reason = min(tiers, key=lambda t: TIERS.index(t[0]))
    return Seen(tier, reason, tuple(findings))


def tier_of(run: Run, findings: Sequence[Finding], confirmed: bool) -> tuple[str, str]:
    wrong = [f.title for f in findings if f.contradicts]
    if wrong:
        return "contradicted", wrong[0]
    if run.chain_intact is None or not run.ranks:
        return "unverified", f"the output ({run.format}) has no run record"
    if confirmed:
        return "confirmed", "the run record agrees with itself and with the scheduler's accounting"
    return "self-consistent", "the run record agrees with itself"


def rank_lines(run: Run) -> list[Where | None]:
    return [r.where for r in run.ranks]


# --- checks of one run ----------------------------------------------------------------------


def chain(run: Run) -> Iterator[Finding]:
    if run.chain_intact is False:
        yield contradiction(
            "The record's lines do not follow on each other",
            "every line as the program wrote it, in order",
            "a line is missing, moved or changed",
            [p.where for p in run.problems if "chain" in p.reason],
        )


def ranks_present(run: Run) -> Iterator[Finding]:
    asked, size = run.header.get("ranks_asked"), run.header.get("world_size")
    if run.ranks and is_number(size):
        present = {r.rank for r in run.ranks}
        if present != set(range(int(min(size, 1e6)))):
            yield contradiction(
                "Not every rank took part",
                f"ranks 0 to {size - 1:g}",
                f"{counted(len(present), 'rank')} reported",
                rank_lines(run),
            )
        if any(not r.ended for r in run.ranks):
            gone = [r.rank for r in run.ranks if not r.ended]
            yield odd(
                "A rank began and did not report its end",
                "every rank ends",
                f"no end of rank {', '.join(map(str, gone[:8]))}",
                [r.where for r in run.ranks if not r.ended],
                "call record.end() on every rank",
            )
    if is_number(asked) and is_number(size) and asked != size:
        yield odd(
            "Another number of ranks ran than was asked for",
            counted(asked, "rank"),
            counted(size, "rank"),
            rank_lines(run),
            "start the program with `launch`, which uses the job's own launcher",
        )


def epochs_in_order(run: Run) -> Iterator[Finding]:
    numbers = [e.number for e in run.epochs]
    where = [e.where for e in run.epochs]
    if numbers and numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        yield contradiction(
            "An epoch is missing or stands twice",
            f"epochs {numbers[0]}, {numbers[0] + 1}, …",
            printable(", ".join(map(str, numbers[:20])), 80),
            where,
        )
    asked = run.header.get("epochs_asked")
    if is_number(asked) and len(numbers) > asked:
        found = f"{len(numbers)} epochs"
        yield contradiction("More epochs than asked for", f"{asked:g} epochs", found, where[-1:])


def oddities(run: Run) -> Iterator[Finding]:
    """What no honest program writes, as the reader came across it."""
    for problem in [p for p in run.problems if p.look][:3]:
        yield odd(
            "The record says something that the course's programs never write",
            "every line once, with numbers in their range",
            printable(problem.reason, 160),
            [problem.where],
            "hand in each output once, as the job wrote it",
        )


def samples_add_up(run: Run) -> Iterator[Finding]:
    """Epochs x steps x batch against the samples that the run says it read."""
    batch = run.header.get("global_batch")
    dataset = run.header.get("dataset")
    size = dataset.get("train_samples") if isinstance(dataset, dict) else None
    for epoch in run.epochs:
        unique = epoch.unique_samples
        if unique is None:
            continue
        if is_number(size) and unique > size:
            title = "An epoch says it read more different samples than there are"
            yield contradiction(title, f"at most {size:g}", f"{unique}", [epoch.where])
            return
        if is_number(batch) and epoch.steps is not None and unique > epoch.steps * batch:
            yield contradiction(
                "An epoch says it read more samples than its steps can hold",
                f"at most {epoch.steps} steps × batch {batch:g} = {epoch.steps * batch:g} samples",
                f"{unique} samples",
                [epoch.where],
            )
            return
    uncovered = measured_or_none(shard_uncovered, run)
    claimed = measured_or_none(measure.unique_samples, run)
    if uncovered and claimed and is_number(size):
        read = size - uncovered.value
        if claimed.value > read:
            yield contradiction(
                "The ranks' shares hold fewer samples than the epochs say were read",
                f"at most {read:g} different samples",
                f"{claimed.value:g}",
                rank_lines(run),
            )


def parameters_agree(run: Run) -> Iterator[Finding]:
    """Equal hashes mean no spread. (The other way round need not hold: a hash covers more.)"""
    hashes = [r.param_hash for r in run.ranks]
    spread = run.end.get("param_spread")
    if len(hashes) < 2 or None in hashes or not is_number(spread):
        return
    if len(set(hashes)) == 1 and spread > 0:
        yield contradiction(
            "The parameters' hashes and their spread disagree",
            "no spread when all hashes are equal",
            f"spread {spread:g}",
            rank_lines(run),
        )


def hosts_agree(run: Run) -> Iterator[Finding]:
    named = run.header.get("hosts")
    seen = {r.host for r in run.ranks if r.host}
    if isinstance(named, list) and seen and not seen <= {str(h) for h in named}:
        yield contradiction(
            "Ranks ran on hosts that the header does not name",
            printable(", ".join(str(h) for h in named[:8]), 120),
            printable(", ".join(sorted(seen)[:8]), 120),
            rank_lines(run),
        )


def real_data(run: Run) -> Iterator[Finding]:
    dataset = run.header.get("dataset")
    if isinstance(dataset, dict) and dataset.get("synthetic") is True:
        yield odd(
            "The run trained on the synthetic stand-in, not on the real data",
            "the real data set",
            "synthetic data; its accuracy says nothing about the task",
            rank_lines(run)[:1],
            "`lessons data fetch` on a login node, then submit again",
        )


def physically_possible(run: Run) -> Iterator[Finding]:
    device, params = run.header.get("device"), run.header.get("params")
    rate, count = measured_or_none(measure.throughput, run), measure.workers(run)
    if rate is None or not is_number(params) or not isinstance(device, str):
        return
    peak = next((p for name, p in PEAK_FLOPS.items() if name in device), None)
    if peak is None or count is None:
        return
    needed = 6 * params * rate.low
    if needed > peak * count:
        yield odd(
            "The run is faster than its hardware can compute",
            f"at most {peak * count / (6 * params):,.0f} samples/s on {count} × "
            f"{printable(device, 40)}",
            f"{rate.value:,.0f} samples/s",
            list(rate.where),
            "synchronise the device before the clock is read",
        )


def diverged(run: Run) -> Iterator[Finding]:
    """A run that went to its end without learning anything; a sweep may hold such on purpose, so
    only those that count are asked."""
    losses = [p for p in run.problems if "diverged" in p.reason]
    if losses:
        yield odd(
            "The training diverged and went on to its end",
            "a loss that is a number",
            printable(losses[0].reason, 120),
            [p.where for p in losses],
            "a smaller learning rate, inputs scaled to 0 to 1, then submit again",
        )


def convergence(run: Run, references: Mapping[str, Measure]) -> Iterator[Finding]:
    """A first epoch far better than the solution's own is worth a look."""
    known = references.get(f"first train accuracy of {run.header.get('source')}")
    first = run.epochs[0].train_accuracy if run.epochs else None
    if known is None or first is None or not is_number(first.value):
        return
    limit = known.high + 0.05
    if first.value > limit:
        yield odd(
            "The training converges faster than the reference",
            f"training accuracy up to {limit:.3g} after the first epoch",
            f"{first.value:.4g}",
            [first.where or run.epochs[0].where],
            "check that training data and labels are what the lesson gives",
        )


CHECKS: tuple[Callable[[Run], Iterator[Finding]], ...] = (
    chain,
    ranks_present,
    epochs_in_order,
    times_add_up,
    clock_goes_on,
    oddities,
    samples_add_up,
    parameters_agree,
    hosts_agree,
    real_data,
    physically_possible,
)
