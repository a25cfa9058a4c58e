"""Determine how far a run can be trusted.

The result is an evidence level, not a verdict. Contradicted: parts of the record cannot both be
true. Unverified: the output contains too little information to check. Self-consistent: all parts of
the record that can be checked agree. Confirmed: the scheduler's accounting, exported by the
instructor, agrees too. Reproduced: the submitted program did the same when the instructor ran it.
No points depend on it; a person decides.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise

from autograder.codes import CONTRADICTS, EvidenceLevel, FindingCode, Outcome
from autograder.evidence import accounting
from autograder.evidence.accounting import Jobs, Logins
from autograder.evidence.checks import AS_WRITTEN, check_run
from autograder.measuring.interval import is_number
from autograder.notes import Note, make_note
from autograder.records import Number, Run
from autograder.verdict import TIERS, RunTraits


@dataclass(frozen=True, slots=True)
class Examined:
    tier: EvidenceLevel
    reason: str
    findings: tuple[Note, ...]


def examine(
    runs: Sequence[Run],
    counted: Sequence[Run],
    jobs: Jobs | None = None,
    logins: Logins = (),
    required: bool = False,
) -> Examined:
    """Return the findings on all finished runs, and the level of the weakest run that counts.

    `jobs` is the scheduler's accounting, if there is one. With `required`, the instructor
    should look at runs outside these jobs.
    """
    findings: list[Note] = []
    levels = []
    counted_ids = {run.id for run in counted}
    completed = [run for run in runs if run.outcome == Outcome.COMPLETED]
    copied = copied_within(completed)
    on_jobs = {} if jobs is None else accounting.compare(runs, jobs, logins, required)
    for run in completed:
        about = [*check_run(run), *copied.get(run.id, ()), *on_jobs.get(run.id, ())]
        findings += about
        if run.id in counted_ids:
            levels.append(tier_of(run, about, jobs or {}, logins))
    unknown = EvidenceLevel.UNVERIFIED, "no finished run that counts"
    tier, reason = min(levels, key=lambda level: TIERS.index(level[0]), default=unknown)
    if levels and any(run.outcome == Outcome.INCOMPLETE for run in runs):
        reason += "; another output stops before the end of its run"
    return Examined(tier, reason, tuple(dict.fromkeys(findings)))  # each fact of a job once


def tier_of(
    run: Run, about: Sequence[Note], jobs: Jobs, logins: Logins
) -> tuple[EvidenceLevel, str]:
    """Return a run's evidence level and the reason, from the findings on the run."""
    wrong = [one.title for one in about if one.severity == CONTRADICTS]
    if wrong:
        return EvidenceLevel.CONTRADICTED, wrong[0]
    if run.chain_intact is None or not run.ranks:
        return EvidenceLevel.UNVERIFIED, f"the output ({run.format}) has no run record"
    consistent = "the run record is consistent"
    if doubtful := [one for one in about if one.doubtful]:
        return EvidenceLevel.SELF_CONSISTENT, f"{consistent}, but: {doubtful[0].title}"
    job = accounting.confirming_job(run, jobs, logins)
    if job is None:
        return EvidenceLevel.SELF_CONSISTENT, consistent
    reason = f"{consistent} and agrees with the scheduler's accounting"
    if job.cpu_seconds is None:
        reason += ", which does not say how much the job computed: it may have slept"
    return EvidenceLevel.CONFIRMED, reason


# --- copies of runs ----------------------------------------------------------------------------

# No two runs take exactly the same time, to the microsecond. Honest runs of one program with one
# seed can end with the same losses and parameters to the last digit. Runs that differ in seed,
# framework or number of samples cannot. Nor can runs on other numbers of ranks, except with strong
# scaling, or with a network split into stages.
NUMBERS = 3  # this many values together are never equal by chance
PRINTED, DIGITS = 4, 3  # nor are this many printed numbers with this many digits
LONG_MS, PAUSES = 50, 6  # equal in real copies; in six pairs of honest runs, no pause was equal
DIVERGED = 5.0  # a loss far above guessing; diverged networks can have equal losses
# Facts that always change the losses. Batch, rate and network are not listed, because the header or
# the program may have them wrong.
UNLIKE = ("seed", "framework", "world_size")
COMPUTED_AGAIN = "update_computed_again"  # a measure
LAUNCH = ("started", "job_id", "hosts", "source")  # facts that copies of a record share
# Queues that everybody has on their own machine, with jobs 1, 2, 3.
OWN_QUEUES = ("laptop", "none", "box")


def traits_of(run: Run) -> RunTraits:
    header = run.header
    if not run.launch:
        return RunTraits(hashes_without_record(run) if run.epochs else ())
    hashes = sorted({rank.param_hash for rank in run.ranks if rank.param_hash})
    settings = [header.get(n) for n in UNLIKE if n != "world_size" or header.scaling != "strong"]
    marks = (
        digest([run.launch, *progress(run), run.end]),  # whatever the files are called
        digest([run.launch, *map(header.get, LAUNCH)]),  # even if numbers were changed
        hash_of_seconds(run),
        hash_of_pauses(run),
        # Nobody can choose the seeds of a speed job.
        digest(hashes) if hashes and run.measured(COMPUTED_AGAIN) else "",
    )
    return RunTraits(
        marks=tuple(filter(None, marks)),
        job=site_and_job(run),
        losses=hash_of_losses(run),
        settings=digest([*settings, header.dataset.train_samples]),
        parameters=hash_of_parameters(run),
        result=run.test_accuracy.value if run.test_accuracy else None,
    )


def hashes_without_record(run: Run) -> tuple[str, ...]:
    """Return a hash of what an output prints and, if it is precise, another without the results.

    Two honest outputs may have equal losses of two digits, but then print other results. If seconds
    and losses with more digits are equal, one output is a copy, even if the accuracy was changed.
    """
    seen = [*progress(run), run.workers, [epoch.steps for epoch in run.epochs]]
    seen += values([run.throughput])
    every = digest([*seen, *values([run.test_accuracy, run.test_loss])])
    printed = values([n for epoch in run.epochs for n in (epoch.seconds, epoch.train_loss)])
    precise = [v for v in printed if len(f"{v:.7g}".replace(".", "").strip("0")) >= DIGITS]
    return (every, digest(seen)) if len(precise) >= PRINTED else (every,)


def progress(run: Run) -> list:
    """Return how a run was started, and the seconds and loss of each epoch."""
    facts = [run.header.get(key) for key in (*LAUNCH, "seed")]
    numbers = [
        (e.number, e.seconds and e.seconds.value, e.train_loss and e.train_loss.value)
        for e in run.epochs
    ]
    return [facts, numbers]


def hash_of_seconds(run: Run) -> str:
    """Return a hash of the first measured times that are precise to the microsecond."""
    seconds = values([epoch.seconds for epoch in run.epochs[:NUMBERS]] + [run.total_seconds])
    fine = [value for value in seconds if value >= 0.01 and round(value * 1000, 6) % 1 > 1e-6]
    return digest(fine[:NUMBERS]) if len(fine) >= NUMBERS else ""


def hash_of_pauses(run: Run) -> str:
    """Return a hash of the times between the lines of a record, in milliseconds.

    If they are equal, the lines are copied, even if every number in them was changed. Short pauses
    do not count, because they may be equal by chance.
    """
    lines = [run.began_ms, run.ended_ms, *(event.written_ms for event in run.measures)]
    for epoch in run.epochs:
        lines += [epoch.began_ms, epoch.ended_ms]
    pauses = [after - before for before, after in pairwise(sorted(ms for ms in lines if ms))]
    long = [pause for pause in pauses if pause >= LONG_MS]
    return digest(long) if len(long) >= PAUSES else ""


def hash_of_losses(run: Run) -> str:
    losses = values([epoch.train_loss for epoch in run.epochs[:2]] + [run.test_loss])[:2]
    if len(losses) < 2 or losses[0] == losses[1] or not all(0 < v < DIVERGED for v in losses):
        return ""
    long = all(len(f"{value:.7g}".strip("0.")) >= 4 for value in losses)
    return digest(losses) if long else ""


def values(numbers: Sequence[Number | None]) -> list[float]:
    return [one.value for one in numbers if one is not None and is_number(one.value)]


def hash_of_parameters(run: Run) -> str:
    """Return a hash of the test set's size and the parameters of all ranks.

    Each rank may hold a different part of the network.
    """
    first = next((rank.param_hash for rank in run.ranks if rank.rank == 0), None)
    every = sorted({rank.param_hash for rank in run.ranks if rank.param_hash})
    is_known = first is not None and len(first) >= 8 and run.test_accuracy is not None
    return digest([*every, run.header.dataset.test_samples]) if is_known else ""


def site_and_job(run: Run) -> str:
    """Return the job number in the record, preceded by the name of its site or of a private queue.

    A job number that is only in a file name does not count.
    """
    header = run.header
    if not header.job_id:
        return ""
    own = [name for name in (header.scheduler, header.site) if name in OWN_QUEUES]
    return f"{own[0] if own else header.site or ''} {header.job_id}"[:80]


def digest(facts: object) -> str:
    return blake2b(repr(facts).encode("utf-8", "replace"), digest_size=8).hexdigest()


# --- within one submission ---------------------------------------------------------------------


def copied_within(runs: Sequence[Run]) -> dict[int, list[Note]]:
    """Return findings about runs that are changed copies of other submitted runs, by run id."""
    findings = {}
    first: dict[str, Run] = {}
    for run in runs:
        seconds = hash_of_seconds(run) if run.launch else ""
        if seconds and (other := first.setdefault(seconds, run)).launch != run.launch:
            expected, actual = "different seconds in each run", "the same seconds again"
            places = (run.start, other.start)
            note = make_note(FindingCode.SAME_SECONDS, expected, actual, places, AS_WRITTEN)
            findings[run.id] = [note]
    return findings
