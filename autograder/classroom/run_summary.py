"""Summarise a student's runs for reports, with fingerprints that identify copies of a run."""

import json
from collections.abc import Callable, Sequence
from hashlib import blake2b

from autograder.codes import FindingCode, Outcome
from autograder.evidence.copies import traits_of
from autograder.judging.hand_in import HandIn, by_time
from autograder.judging.runs_that_count import names_of, program_of, runs_compared
from autograder.measuring import measure, rounds
from autograder.measuring.interval import Measure, NotMeasured, measured_or_none
from autograder.records import Problem, Run
from autograder.safe_text import shortened
from autograder.verdict import Finding, Point, Rounds, RunSummary, make_finding

MOST_ROUNDS = 40  # shown in a picture


def point(function: Callable[..., Measure], *runs: Run) -> Point | None:
    value = measured_or_none(function, *runs)
    if value is None:
        return None
    return Point(round(value.value, 6), round(value.low, 6), round(value.high, 6))


def summaries(
    hand_in: HandIn, runs: Sequence[Run], counted: Sequence[Run]
) -> tuple[RunSummary, ...]:
    names_of_run = names_of(hand_in)
    names = {run.id: names_of_run(run)[0] for run in runs if names_of_run(run)}
    made = []
    smallest = baselines(runs)
    counted_ids = {run.id for run in counted}
    compared_ids = {run.id for run in runs_compared(hand_in)}
    for run in sorted(runs, key=lambda r: (names.get(r.id, "~"), by_time(r))):
        name = names.get(run.id, run.format)
        base = smallest.get(program_of(run))
        if base and (measure.workers(run) or 0) <= (measure.workers(base) or 0):
            base = None  # a run is not compared with another one of the same size
        accuracy = run.test_accuracy.value if run.test_accuracy else None
        made.append(
            RunSummary(
                name=name,
                program=program_of(run),
                outcome=run.outcome,
                counted=run.id in counted_ids,
                compared=run.id in compared_ids,
                files=run.files,
                job_id=run.job_id and shortened(run.job_id, 40),
                workers=measure.workers(run),
                device=shortened(run.header.device or "", 80),
                started=shortened(run.header.started or "", 40),
                synthetic=bool(run.header.dataset.synthetic),
                epoch_seconds=tuple(
                    e.seconds.value if e.seconds else None for e in run.epochs[:1000]
                ),
                epoch_s=point(measure.epoch_time, run),
                throughput=point(measure.throughput, run),
                test_accuracy=accuracy,
                fingerprint=fingerprint(run),
                launch=launch_of(run),
                toolkit=(run.program and run.program.toolkit) or "",
                traits=traits_of(run),
                where=run.start,
                speedup=point(measure.speedup, base, run) if base else None,
                rounds=measured_or_none(rounds_of, run) if rounds.has_rounds(run) else None,
                problems=tuple(problem_finding(p) for p in run.problems[:10]),
            )
        )
    return tuple(made)


def rounds_of(run: Run) -> Rounds:
    metrics = (rounds.speedup, rounds.ceiling, rounds.share)
    points = [found for found in (point(metric, run) for metric in metrics) if found]
    seconds = [each.seconds for each in rounds.rounds(run)[:MOST_ROUNDS]]
    if len(points) < len(metrics):
        raise NotMeasured("not the rounds of several ranks")
    return Rounds(tuple(seconds), *points)


def baselines(runs: Sequence[Run]) -> dict[str, Run]:
    """Return each program's finished run on the fewest workers, the baseline of its speedups."""
    finished = [run for run in runs if run.outcome == Outcome.COMPLETED and measure.workers(run)]
    smallest: dict[str, Run] = {}
    for run in sorted(finished, key=lambda run: measure.workers(run) or 0):
        smallest.setdefault(program_of(run), run)
    return smallest


def problem_finding(problem: Problem) -> Finding:
    reason, text = shortened(problem.reason, 120), shortened(problem.text, 200)
    code = FindingCode.READ_PROBLEM
    return make_finding("read", code, "", text, [problem.where], reason=reason)


LAUNCH = ("started", "job_id", "hosts", "source")


def launch_of(run: Run) -> str:
    """Return a digest that is equal for copies of a record, even if numbers in it were changed.

    The digest is empty for runs without a launch id.
    """
    return digest([run.launch, *map(run.header.get, LAUNCH)]) if run.launch else ""


def fingerprint(run: Run) -> str:
    """Return a digest that is equal for two copies of a run, whatever the files are called."""
    facts = {key: run.header.get(key) for key in (*LAUNCH, "seed")}
    numbers = [
        (e.number, e.seconds and e.seconds.value, e.train_loss and e.train_loss.value)
        for e in run.epochs
    ]
    return digest([run.launch, facts, numbers, run.end])


def digest(facts: list) -> str:
    text = json.dumps(facts, sort_keys=True, default=str)
    return blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()
