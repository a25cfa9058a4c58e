"""Measure a scaling study: all finished runs that share a name in a rubric.

Each metric is a function of all runs and of `at`, a selector such as `{size: 4}`,
`{size: largest}`, `{repeats: 3}` or `{workers: 1024}`. See `study_table` for how the sizes of a
scaling study are compared.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from autograder.codes import ReasonCode
from autograder.measuring import measure, rounds, study_table
from autograder.measuring.interval import Measure, NotMeasured, exact
from autograder.measuring.study_table import by_size
from autograder.records import Run

At = Mapping[str, Any]


def sizes(runs: Sequence[Run], at: At) -> Measure:
    """Return the number of sizes that have at least `repeats` runs of the same work."""
    sized = by_size(runs)
    enough = [same for same in sized.values() if len(same) >= at.get("repeats", 1)]
    basis = "runs: " + ", ".join(f"{len(same)} on {count}" for count, same in sized.items())
    used = {run.id for same in sized.values() for run in same}
    first = sized[min(sized)][-1]
    unlike = (measure.not_comparable(first, run) for run in runs if run.id not in used)
    if differences := next(filter(None, unlike), None):
        basis += f"; left out: {differences[0]}"
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


def efficiency(runs: Sequence[Run], at: At) -> Measure:
    """Return the efficiency in the study's table for a size."""
    rows = {row.ranks: row for row in study_table.rows(runs)}
    return rows[chosen_size(rows, at)].efficiency


def least_at_size(of: Callable[[Run], Measure], runs: Sequence[Run], at: At) -> Measure:
    """Return the smallest value at the size in `at`, or at the largest size."""
    sized = by_size(runs)
    return min(map(of, sized[chosen_size(sized, at)]), key=lambda measure: measure.value)


def worst_of_points(name: str, choose: Callable, runs: Sequence[Run], at: At) -> Measure:
    """Return the largest or smallest value among a study's points."""
    points = [run.point for run in study_table.expanded(runs) if run.point]
    if not points:
        raise NotMeasured("the runs contain no points of a study", "submit a study's output")
    return rounds.worst(points, name, choose)


def of_law(law: Callable[..., Measure], runs: Sequence[Run], at: At) -> Measure:
    """Return a law's parameter or prediction, computed from the speedups of all sizes."""
    points = [(row.ranks, row.speedup) for row in study_table.rows(runs)]
    if points[0][0] != 1:
        raise NotMeasured("a law needs a run on one worker", "also submit it with one task")
    return law(points, **at)
