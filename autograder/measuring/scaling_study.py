"""Measure a scaling study: all finished runs that share a name in a rubric, at several sizes.

Each metric is a function of all runs and of `at`, a selector such as `{size: 4}`,
`{size: largest}`, `{repeats: 3}` or `{workers: 1024}`. See `study_table` for how sizes are
compared.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from autograder.codes import ReasonCode
from autograder.measuring import measure, rounds, study_points, study_table
from autograder.measuring.interval import Measure, NotMeasured, exact
from autograder.measuring.scaling_laws import Points
from autograder.measuring.study_table import by_size, scaling_of
from autograder.records import MeasureEvent, Run, Where

At = Mapping[str, Any]


# --- a run against its base ---------------------------------------------------------------------


def speedup(base: Run, run: Run) -> Measure:
    return measure.speedup(base, run, scaling_of(run))


def efficiency(base: Run, run: Run) -> Measure:
    return measure.efficiency(base, run, scaling_of(run))


# --- sizes --------------------------------------------------------------------------------------


def left_out(runs: Sequence[Run], used: Mapping[int, Sequence[Run]]) -> str:
    """Return text that says why runs were left out of the comparison."""
    used_ids = {run.id for same in used.values() for run in same}
    base = next(iter(used.values()))[-1]
    reasons = [
        reason
        for run in runs
        if run.id not in used_ids
        for reason in measure.not_comparable(base, run)[:1]
    ]
    return f"; left out: {reasons[0]}" if reasons else ""


def lines(runs: Sequence[Run]) -> tuple[Where, ...]:
    """Return the location of one line of each run, for use in messages."""
    return tuple(place for run in runs for place in run.rank_lines[:1])


def sizes(runs: Sequence[Run], at: At) -> Measure:
    """Return the number of sizes that have at least `repeats` runs of the same work."""
    sized = by_size(runs)
    needed = at.get("repeats", 1)
    enough = {count: same for count, same in sized.items() if len(same) >= needed}
    table = ", ".join(f"{len(same)} on {count}" for count, same in sized.items())
    where = lines([same[0] for same in sized.values()])
    return exact(len(enough), "sizes", where, f"runs: {table}{left_out(runs, sized)}")


def size_of(there: Sequence[int], at: At) -> int:
    size = at.get("size", "largest")
    if size in ("largest", "smallest"):
        return max(there) if size == "largest" else min(there)
    if size in there:
        return size
    raise NotMeasured(
        f"no run of the same work on {size} workers",
        "submit the job on this size",
        code=ReasonCode.NO_RUN_OF_SIZE,
    )


def at_size(column: str) -> Callable:
    """Return a function that gives this column of the study's table for a size."""

    def value(runs: Sequence[Run], at: At) -> Measure:
        by_ranks = {row.ranks: getattr(row, column) for row in study_table.rows(runs)}
        return by_ranks[size_of(list(by_ranks), at)]

    return value


# --- laws ---------------------------------------------------------------------------------------


def from_one(runs: Sequence[Run]) -> Points:
    """Return the speedups over one worker, which the laws need."""
    points = [(row.ranks, row.speedup) for row in study_table.rows(runs)]
    if points[0][0] != 1:
        raise NotMeasured("a law needs a run on one worker", "also submit the job with one task")
    return points


def fitted(law: Callable[[Points], Measure]) -> Callable:
    def value(runs: Sequence[Run], at: At) -> Measure:
        return law(from_one(runs))

    return value


def foretold(law: Callable[[Points, int], Measure]) -> Callable:
    def value(runs: Sequence[Run], at: At) -> Measure:
        return law(from_one(runs), at.get("workers", 1024))

    return value


# --- the work on a size -------------------------------------------------------------------------


def _on_a_size(of: Callable[[Run], Measure]) -> Callable:
    """Return a function for the smallest value at the size in `at`, or at the largest size."""

    def value(runs: Sequence[Run], at: At) -> Measure:
        sized = by_size(runs)
        same = sized[size_of(list(sized), at)]
        return min(map(of, same), key=lambda measure: measure.value)

    return value


def _batch(run: Run) -> Measure:
    batch = run.header.global_batch
    if batch is None or batch <= 0:
        raise NotMeasured("the output does not report the samples per step")
    return exact(batch, "", lines([run]))


samples = _on_a_size(measure.unique_samples)
batch = _on_a_size(_batch)


def _of_points(name: str, choose: Callable) -> Callable:
    """Return a function that measures the largest or smallest value among a study's points."""

    def value(runs: Sequence[Run], at: At) -> Measure:
        points = [run.point for run in study_points.expanded(runs) if run.point]
        if not points:
            raise NotMeasured("the runs contain no points of a study", "submit job_study.sbatch")
        return rounds.worst(points, name, choose, title)

    return value


def title(event: MeasureEvent) -> str:
    return f"round {event.facts['round']} on {event.facts['ranks']} ranks"


moved = _of_points("moved", min)
spread = _of_points("spread", max)
