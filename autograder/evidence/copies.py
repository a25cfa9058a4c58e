"""Detect one run submitted as several, from values that no two runs have in common.

Honest runs of one program with one seed can end with the same losses and parameters to the last
digit. However, no two runs take exactly the same time, to the microsecond. Runs that differ in
seed, framework, number of ranks or number of samples do not share their losses either. There are
three exceptions. With strong scaling, or with a network split into stages, the results equal those
of a single process on any number of ranks. Two programs may implement the same training, such as
lesson 16's parameter server and its all-reduce, so only runs of the same program are compared.
"""

from collections.abc import Sequence
from hashlib import blake2b
from itertools import pairwise

from autograder.codes import FindingCode
from autograder.evidence.findings import finding
from autograder.evidence.rounds import COMPUTED_AGAIN
from autograder.measuring.interval import is_number
from autograder.records import Run
from autograder.verdict import Finding, RunTraits

NUMBERS = 3  # this many values together are never equal by chance
LONG_MS, PAUSES = 50, 6  # equal in real copies; in six pairs of honest runs, no pause was equal
DIVERGED = 5.0  # a loss far above guessing; diverged networks can have equal losses
# Facts that always change the losses. Batch, rate and network are not listed, because the header or
# the program may have them wrong.
UNLIKE = ("seed", "framework", "world_size")
# Queues that everybody has on their own machine, with jobs 1, 2, 3.
OWN_QUEUES = ("laptop", "none", "box")
SAME_RESULT = 0.002  # difference in one network's accuracy between two kinds of processors


def traits_of(run: Run) -> RunTraits:
    if not run.launch:
        return RunTraits()
    return RunTraits(
        seconds=hash_of_seconds(run),
        losses=hash_of_losses(run),
        settings=hash_of_settings(run),
        parameters=hash_of_parameters(run),
        result=run.test_accuracy.value if run.test_accuracy else None,
        job=site_and_job(run),
        pauses=hash_of_pauses(run),
        drawn=hash_of_drawn(run),
    )


def hash_of_seconds(run: Run) -> str:
    """Return a hash of the first measured times that are precise to the microsecond."""
    numbers = [epoch.seconds for epoch in run.epochs[:NUMBERS]] + [run.total_seconds]
    values = [s.value for s in numbers if s is not None and is_number(s.value)]
    fine = [value for value in values if value >= 0.01 and round(value * 1000, 6) % 1 > 1e-6]
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


def hash_of_drawn(run: Run) -> str:
    """Return a hash of the parameters after a speed job, whose seeds nobody can choose."""
    hashes = sorted(rank.param_hash for rank in run.ranks if rank.param_hash)
    return digest(hashes) if run.measured(COMPUTED_AGAIN) and hashes else ""


def hash_of_losses(run: Run) -> str:
    numbers = [epoch.train_loss for epoch in run.epochs[:2]] + [run.test_loss]
    values = [loss.value for loss in numbers if loss is not None and is_number(loss.value)][:2]
    if len(values) < 2 or values[0] == values[1] or not all(0 < v < DIVERGED for v in values):
        return ""
    long = all(len(f"{value:.7g}".strip("0.")) >= 4 for value in values)
    return digest(values) if long else ""


def hash_of_settings(run: Run) -> str:
    is_strong = run.header.scaling == "strong"
    names = [name for name in UNLIKE if name != "world_size" or not is_strong]
    return digest([*map(run.header.get, names), run.header.dataset.train_samples])


def hash_of_parameters(run: Run) -> str:
    """Return a hash of the test set's size and the parameters of all ranks.

    Each rank may hold a different part of the network.
    """
    first = next((rank.param_hash for rank in run.ranks if rank.rank == 0), None)
    every = sorted({rank.param_hash for rank in run.ranks if rank.param_hash})
    tested = run.header.dataset.test_samples
    is_known = first is not None and len(first) >= 8 and run.test_accuracy is not None
    return digest([*every, tested]) if is_known else ""


def site_and_job(run: Run) -> str:
    """Return the job number in the record, preceded by the name of its site or of a private queue.

    A job number that is only in a file name does not count.
    """
    header = run.header
    if not header.job_id:
        return ""
    own = [name for name in (header.scheduler, header.site) if name in OWN_QUEUES]
    return f"{own[0] if own else header.site or ''} {header.job_id}"[:80]


def digest(facts: list) -> str:
    return blake2b(repr(facts).encode("utf-8", "replace"), digest_size=8).hexdigest()


# --- within one submission ---------------------------------------------------------------------


def within(runs: Sequence[Run]) -> dict[int, list[Finding]]:
    """Return findings about runs that are changed copies of other submitted runs, by run id."""
    findings: dict[int, list[Finding]] = {}
    seconds: dict[str, Run] = {}
    losses: dict[tuple[str, str | None], tuple[str, Run]] = {}
    results: dict[str, tuple[float, Run]] = {}
    for run in runs:
        traits = traits_of(run)
        first = seconds.setdefault(traits.seconds, run) if traits.seconds else run
        if first.launch != run.launch:
            findings.setdefault(run.id, []).append(same_seconds(run, first))
            continue
        if traits.losses:
            of_program = traits.losses, run.header.program
            settings, first = losses.setdefault(of_program, (traits.settings, run))
            if settings != traits.settings:
                findings.setdefault(run.id, []).append(same_losses(run, first))
        if traits.parameters and traits.result is not None:
            result, first = results.setdefault(traits.parameters, (traits.result, run))
            if abs(result - traits.result) > SAME_RESULT:
                findings.setdefault(run.id, []).append(same_parameters(run, first))
    return findings


def same_seconds(run: Run, first: Run) -> Finding:
    return finding(
        FindingCode.SAME_SECONDS,
        "different seconds in each run",
        f"those of {place(first)} again",
        [run.start, first.start],
    )


def same_losses(run: Run, first: Run) -> Finding:
    words = [
        f"{name} {first.header.get(name)} and {run.header.get(name)}"
        for name in UNLIKE
        if first.header.get(name) != run.header.get(name)
    ]
    return finding(
        FindingCode.SAME_LOSSES,
        f"different losses in each run ({'; '.join(words)[:120] or 'other data'})",
        f"those of {place(first)} again",
        [run.start, first.start],
        "submit each output as its own job wrote it",
    )


def same_parameters(run: Run, first: Run) -> Finding:
    return finding(
        FindingCode.SAME_PARAMETERS,
        f"test accuracy {first.test_accuracy.value:g}" if first.test_accuracy else "one accuracy",
        f"{run.test_accuracy.value:g}" if run.test_accuracy else "another",
        [run.start, first.start],
    )


def place(run: Run) -> str:
    where = run.start
    return f"{where.file}:{where.line}" if where else "another run"
