"""Summarise a student's runs for reports."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from autograder.codes import Outcome
from autograder.evidence.copies import traits_of
from autograder.judging.hand_in import HandIn, by_time
from autograder.judging.runs_that_count import names_of, program_of, runs_compared
from autograder.measuring import measure, rounds
from autograder.measuring.interval import Measure, measured_or_none
from autograder.notes import Note
from autograder.records import Run
from autograder.safe_text import shortened
from autograder.verdict import Point, Rounds, RunSummary

MOST_ROUNDS = 40  # shown in a picture


def summaries(
    hand_in: HandIn, runs: Sequence[Run], counted: Sequence[Run]
) -> tuple[RunSummary, ...]:
    all_names = names_of(hand_in)
    names = {run.id: next(iter(all_names(run)), None) for run in runs}
    smallest = baselines(runs)
    counted_ids = {run.id for run in counted}
    compared_ids = {run.id for run in runs_compared(hand_in)}
    made = []
    for run in sorted(runs, key=lambda r: (names[r.id] or "~", by_time(r))):
        base = smallest.get(program_of(run))
        if base and (measure.workers(run) or 0) <= (measure.workers(base) or 0):
            base = None  # a run is not compared with another one of the same size
        made.append(
            RunSummary(
                name=names[run.id] or run.format,
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
                test_accuracy=run.test_accuracy.value if run.test_accuracy else None,
                toolkit=(run.program and run.program.toolkit) or "",
                traits=traits_of(run),
                where=run.start,
                speedup=point(measure.speedup, base, run) if base else None,
                rounds=rounds_of(run) if run.measured(rounds.NAME) else None,
                problems=tuple(shortened_problem(p) for p in run.problems[:10]),
            )
        )
    return tuple(made)


def point(function: Callable[..., Measure], *runs: Run) -> Point | None:
    value = measured_or_none(function, *runs)
    if value is None:
        return None
    return Point(round(value.value, 6), round(value.low, 6), round(value.high, 6))


def rounds_of(run: Run) -> Rounds | None:
    speedup, ceiling, share = (
        point(metric, run) for metric in (rounds.speedup, rounds.ceiling, rounds.share)
    )
    if not (speedup and ceiling and share):
        return None
    seconds = tuple((r.alone, r.silent, r.together) for r in rounds.rounds(run)[:MOST_ROUNDS])
    return Rounds(seconds, speedup, ceiling, share)


def baselines(runs: Sequence[Run]) -> dict[str, Run]:
    """Return each program's finished run on the fewest workers, the baseline of its speedups."""
    smallest: dict[str, Run] = {}
    for run in sorted(runs, key=lambda run: measure.workers(run) or 0):
        if run.outcome == Outcome.COMPLETED and measure.workers(run):
            smallest.setdefault(program_of(run), run)
    return smallest


def shortened_problem(problem: Note) -> Note:
    title, actual = shortened(problem.title, 120), shortened(problem.actual, 200)
    return replace(problem, title=title, actual=actual)
