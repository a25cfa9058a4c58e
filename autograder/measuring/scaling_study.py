"""Measure a scaling study: all finished runs that share a name in a rubric, at several sizes.

Each metric is a function of all runs and of `at`, a selector such as `{size: 4}`,
`{size: largest}`, `{repeats: 3}` or `{workers: 1024}`. See `study_table` for how sizes are
compared.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from autograder.codes import ReasonCode
from autograder.measuring import measure, rounds, study_points, study_table
from autograder.measuring.interval import Measure, NotMeasured, exact
from autograder.measuring.study_table import by_size, scaling_of
from autograder.records import Run

At = Mapping[str, Any]
OfStudy = Callable[[Sequence[Run], At], Measure]


def speedup(base: Run, run: Run) -> Measure:
    return measure.speedup(base, run, scaling_of(run))


def efficiency(base: Run, run: Run) -> Measure:
    return measure.efficiency(base, run, scaling_of(run))


def sizes(runs: Sequence[Run], at: At) -> Measure:
    """Return the number of sizes that have at least `repeats` runs of the same work."""
    sized = by_size(runs)
    enough = [same for same in sized.values() if len(same) >= at.get("repeats", 1)]
    basis = "runs: " + ", ".join(f"{len(same)} on {count}" for count, same in sized.items())
    used = {run.id for same in sized.values() for run in same}
    first = sized[min(sized)]
    for run in runs:
        differences = [] if run.id in used else measure.not_comparable(first[-1], run)
        if differences:
            basis += f"; left out: {differences[0]}"
            break
    where = [place for same in sized.values() for place in same[0].rank_lines[:1]]
    return exact(len(enough), "sizes", where, basis)


def chosen_size(sizes: Collection[int], at: At) -> int:
    size = at.get("size", "largest")
    if size in ("largest", "smallest"):
        return max(sizes) if size == "largest" else min(sizes)
    if size in sizes:
        return size
    reason = f"no run of the same work on {size} workers"
    raise NotMeasured(reason, "submit the job on this size", code=ReasonCode.NO_RUN_OF_SIZE)


def at_size(column: str) -> OfStudy:
    """Return a function that gives this column of the study's table for a size."""

    def value(runs: Sequence[Run], at: At) -> Measure:
        rows = {row.ranks: row for row in study_table.rows(runs)}
        return getattr(rows[chosen_size(rows, at)], column)

    return value


def least_at_size(of: Callable[[Run], Measure]) -> OfStudy:
    """Return a function for the smallest value at the size in `at`, or at the largest size."""

    def value(runs: Sequence[Run], at: At) -> Measure:
        sized = by_size(runs)
        return min(map(of, sized[chosen_size(sized, at)]), key=lambda measure: measure.value)

    return value


def batch(run: Run) -> Measure:
    batch = run.header.global_batch
    if batch is None or batch <= 0:
        raise NotMeasured("the output does not report the samples per step")
    return exact(batch, "", run.rank_lines[:1])


def worst_of_points(name: str, choose: Callable) -> OfStudy:
    """Return a function that measures the largest or smallest value among a study's points."""

    def value(runs: Sequence[Run], at: At) -> Measure:
        points = [run.point for run in study_points.expanded(runs) if run.point]
        if not points:
            raise NotMeasured("the runs contain no points of a study", "submit job_study.sbatch")
        return rounds.worst(points, name, choose)

    return value


def of_law(law: Callable[..., Measure], **defaults: Any) -> OfStudy:
    """Return a function for a law's parameter or prediction from the speedups over one worker."""

    def value(runs: Sequence[Run], at: At) -> Measure:
        points = [(row.ranks, row.speedup) for row in study_table.rows(runs)]
        if points[0][0] != 1:
            hint = "also submit the job with one task"
            raise NotMeasured("a law needs a run on one worker", hint)
        return law(points, **{**defaults, **at})

    return value
