"""Measure the work of a scaling study's runs on each size: samples, batches, parameters."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from autograder.measuring import measure, rounds, scaling_study, study_points
from autograder.measuring.interval import Measure, NotMeasured, exact
from autograder.records import MeasureEvent, Run


def _on_a_size(of: Callable[[Run], Measure]) -> Callable:
    """Return a function that measures the smallest value on the size in `at`, or the largest."""

    def value(runs: Sequence[Run], at: Mapping[str, Any]) -> Measure:
        sized = scaling_study.by_size(runs)
        same = sized[scaling_study.size_of(list(sized), at)]
        return min(map(of, same), key=lambda measure: measure.value)

    return value


def _batch(run: Run) -> Measure:
    batch = run.header.global_batch
    if batch is None or batch <= 0:
        raise NotMeasured("the output does not report how many samples a step has")
    return exact(batch, "", scaling_study.lines([run]))


samples = _on_a_size(measure.unique_samples)
batch = _on_a_size(_batch)


def _of_points(name: str, choose: Callable) -> Callable:
    """Return a function that measures the largest or smallest value that a study's points state."""

    def value(runs: Sequence[Run], at: Mapping[str, Any]) -> Measure:
        points = [run.point for run in study_points.expanded(runs) if run.point]
        if not points:
            raise NotMeasured("there are no points of a study", "submit job_study.sbatch")
        return rounds.worst(points, name, choose, title)

    return value


def title(event: MeasureEvent) -> str:
    return f"round {event.facts['round']} on {event.facts['ranks']} ranks"


moved = _of_points("moved", min)
spread = _of_points("spread", max)
