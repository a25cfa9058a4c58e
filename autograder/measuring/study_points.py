"""Convert a scaling study's points, which one launch measured in rounds, into runs.

Each round runs one pass at every size. A point becomes a run of its own, with the workers and the
work that its line states. The same functions can then measure studies from one launch and studies
from many jobs.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from autograder.measuring import measure
from autograder.measuring.interval import Measure, NotMeasured, printed
from autograder.measuring.rounds import AS_WRITTEN
from autograder.records import Epoch, MeasureEvent, Number, Run

NAME = "point"  # its name in the record's measures
ROUND = "round"


def expanded(runs: Sequence[Run]) -> list[Run]:
    """Return the runs, with each scaling study replaced by its individual points."""
    result: list[Run] = []
    for run in runs:
        result += [as_run(run, event) for event in run.measured(NAME)] or [run]
    return result


def as_run(run: Run, event: MeasureEvent) -> Run:
    names = (ROUND, "ranks", "local_batch", "steps", "samples")
    counts = [count for name in names if (count := measure.whole(event.facts.get(name)))]
    if len(counts) < len(names) or event.value is None or event.value <= 1e-9:
        lacking = "a point of the study lacks its round, ranks, steps, batch, samples or time"
        raise NotMeasured(lacking, AS_WRITTEN, [event.where])
    _, ranks, batch, steps, samples = counts
    seconds = Number(float(event.value), 5e-7, event.where)
    epoch = Epoch(1, seconds, steps, samples, where=event.where)
    header = replace(run.header, world_size=ranks, local_batch=batch, global_batch=batch * ranks)
    return replace(run, workers=ranks, epochs=(epoch,), header=header, measures=(), point=event)


def pass_time(run: Run) -> Measure:
    """Return the seconds of a study point's pass after a warm-up, or of a run's later epochs."""
    seconds = run.epochs[0].seconds if run.point else None
    return printed(seconds, "s") if seconds else measure.epoch_time(run)


def by_round(runs: Sequence[Run]) -> Iterable[dict[int, Run]]:
    """Return the points of each round of each launch, keyed by the number of ranks."""
    rounds: dict[tuple, dict[int, Run]] = {}
    for run in runs:
        if run.point:
            key = (run.launch, run.header.scaling, run.point.facts[ROUND])
            rounds.setdefault(key, {})[run.workers or 0] = run
    return rounds.values()
