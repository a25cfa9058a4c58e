"""Measure a scaling study: all finished runs that share a name in a rubric, at several sizes.

Each metric is a function of all runs and of `at`, such as `{size: 4}`, `{size: largest}`,
`{repeats: 3}` or `{workers: 1024}`. A size is a number of workers. The value at a size is the
median over its runs, and its interval is their range. Only runs with the same work and hardware as
those on the fewest workers are compared. If one launch measured all sizes in rounds, they are
compared within a round, because other load on the machine affects all of them equally.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from autograder.codes import ReasonCode
from autograder.measuring import interval, measure, rounds, study_points
from autograder.measuring.interval import (
    Measure,
    NotMeasured,
    each_measured,
    exact,
)
from autograder.measuring.scaling_laws import Points
from autograder.records import MeasureEvent, Run, Where
from autograder.safe_text import shortened

At = Mapping[str, Any]

# --- a run against its base ---------------------------------------------------------------------


def scaling_of(run: Run) -> str | None:
    """Return the kind of scaling.

    A run on one worker fits every kind, so None is returned for it.
    """
    return run.header.scaling if run.header.scaling != "serial" else None


def speedup(base: Run, run: Run) -> Measure:
    return measure.speedup(base, run, scaling_of(run))


def efficiency(base: Run, run: Run) -> Measure:
    return measure.efficiency(base, run, scaling_of(run))


# --- sizes --------------------------------------------------------------------------------------


def by_size(runs: Sequence[Run]) -> dict[int, list[Run]]:
    """Group runs by number of workers, without runs that differ in work or hardware."""
    sized: dict[int, list[Run]] = {}
    runs = study_points.expanded(runs)
    for run in runs:
        if (count := measure.workers(run)) is not None:
            sized.setdefault(count, []).append(run)
    if not sized:
        raise NotMeasured("no run reports its number of workers", code=ReasonCode.NO_RUN_OF_SIZE)
    base = sized[min(sized)][-1]
    kinds = sorted({kind for run in runs if (kind := scaling_of(run))})
    if len(kinds) > 1:
        raise NotMeasured(
            f"{' and '.join(shortened(kind, 20) for kind in kinds)} scaling are different studies",
            "use a different name for the runs of each kind",
        )
    kind = kinds[0] if kinds else None
    alike = {
        count: [
            run
            for run in sized[count]
            if not measure.different_work(base, run, kind)
            and not measure.different_hardware(base, run)
        ]
        for count in sorted(sized)
    }
    return {count: same for count, same in alike.items() if same}


def left_out(runs: Sequence[Run], used: Mapping[int, Sequence[Run]]) -> str:
    """Return text that says why runs were left out of the comparison."""
    used_ids = {run.id for same in used.values() for run in same}
    base = next(iter(used.values()))[-1]
    reasons = [
        reason
        for run in runs
        if run.id not in used_ids
        for reason in (measure.different_work(base, run) + measure.different_hardware(base, run))[
            :1
        ]
    ]
    return f"; left out: {reasons[0]}" if reasons else ""


def lines(runs: Sequence[Run]) -> tuple[Where, ...]:
    """Return the location of one line of each run, for use in messages."""
    return tuple(place for run in runs for place in run.rank_lines[:1])


def epoch_times(runs: Sequence[Run]) -> Points:
    """Return the epoch time of each size: the median over its repeats."""
    points = []
    for count, same in by_size(runs).items():
        usable = each_measured(study_points.pass_time, same)
        points.append((count, interval.middle(usable, f"median of {len(usable)} runs")))
    return points


def speedups(runs: Sequence[Run]) -> Points:
    """Return the speedups relative to the smallest number of workers.

    For weak scaling, compare work per second.
    """
    points = epoch_times(runs)
    few, slow = points[0]
    weak = "weak" in {scaling_of(run) for run in runs}
    pairs = gains_in_rounds(runs, few)
    gains = []
    for count, fast in points:
        gain = pairs.get(count) or interval.ratio(slow, fast)
        gain = gain if count != few else exact(1, where=slow.where)
        gains.append((count, interval.scaled(gain, count / few) if weak else gain))
    return gains


def gains_in_rounds(runs: Sequence[Run], few: int) -> dict[int, Measure]:
    """Return each size's speedup: the base's time divided by its own, paired within each round."""
    gains: dict[int, list[Measure]] = {}
    used = [run for same in by_size(runs).values() for run in same]
    for by_ranks in study_points.by_round(used):
        for count, run in by_ranks.items() if few in by_ranks else ():
            slow, fast = (study_points.pass_time(which) for which in (by_ranks[few], run))
            gains.setdefault(count, []).append(interval.ratio(slow, fast))
    return {
        count: interval.middle(values, f"median of {len(values)} rounds")
        for count, values in gains.items()
    }


def from_one(runs: Sequence[Run]) -> Points:
    """Return the speedups over one worker, which the laws need."""
    points = speedups(runs)
    if points[0][0] != 1:
        raise NotMeasured("a law needs a run on one worker", "also submit the job with one task")
    return points


# --- metrics ------------------------------------------------------------------------------------


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


def at_size(points_of: Callable[[Sequence[Run]], Points]) -> Callable:
    def value(runs: Sequence[Run], at: At) -> Measure:
        by_size = dict(points_of(runs))
        return by_size[size_of(list(by_size), at)]

    return value


def efficiencies(runs: Sequence[Run]) -> Points:
    points = speedups(runs)
    return [(count, interval.scaled(gain, points[0][0] / count)) for count, gain in points]


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
