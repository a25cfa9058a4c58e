"""A scaling study: all finished runs that go by one name in a rubric, on several sizes, repeated.

Each metric here is a function of all of them and of `at`: `{size: 4}`, `{size: largest}`,
`{repeats: 3}`, `{workers: 1024}`. A size is a number of workers; its value is the median of its
runs' values, and its range is theirs. Only what did the same work as the runs on the fewest
workers, on the same hardware, is compared with them.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from autograder.measuring import measure, scaling_laws
from autograder.measuring.measure import Measure, Missing, Result, exact
from autograder.measuring.scaling_laws import Points
from autograder.records import Run, Where
from autograder.safe_text import printable

At = Mapping[str, Any]


def scaling_of(run: Run) -> str | None:
    """On one worker all kinds are the same, so a run that calls itself serial says nothing."""
    said = run.header.get("scaling")
    return said if isinstance(said, str) and said != "serial" else None


def by_size(runs: Sequence[Run]) -> dict[int, list[Run]] | Missing:
    """Runs by workers, smallest first, without those of other work or hardware than the first."""
    sized: dict[int, list[Run]] = {}
    for run in runs:
        if (count := measure.workers(run)) is not None:
            sized.setdefault(count, []).append(run)
    if not sized:
        return Missing("no run says on how many workers it ran")
    base = sized[min(sized)][-1]
    kinds = sorted({kind for run in runs if (kind := scaling_of(run))})
    if len(kinds) > 1:
        return Missing(
            f"{' and '.join(printable(kind, 20) for kind in kinds)} scaling are two studies",
            "give the runs of each kind a name of their own",
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
    """What was not compared, and why, for people."""
    kept = {id(run) for same in used.values() for run in same}
    base = next(iter(used.values()))[-1]
    reasons = [
        reason
        for run in runs
        if id(run) not in kept
        for reason in (measure.different_work(base, run) + measure.different_hardware(base, run))[
            :1
        ]
    ]
    return f"; left out: {reasons[0]}" if reasons else ""


def lines(runs: Sequence[Run]) -> tuple[Where, ...]:
    """One line of each run, for people to look at."""
    places = [next((r.where for r in run.ranks if r.where), None) for run in runs]
    return tuple(place for place in places if place)


def times(runs: Sequence[Run], of: Callable[[Run], Result]) -> Points | Missing:
    """The median over the repeats of each size."""
    sized = by_size(runs)
    if isinstance(sized, Missing):
        return sized
    points = []
    for count, same in sized.items():
        results = [of(run) for run in same]
        usable = [result for result in results if isinstance(result, Measure)]
        if not usable:
            return next(result for result in results if isinstance(result, Missing))
        points.append((count, measure.middle(usable, f"median of {len(usable)} runs")))
    return points


def speedups(runs: Sequence[Run]) -> Points | Missing:
    """Against the fewest workers there are; weak scaling: of the work done in a time."""
    points = times(runs, measure.epoch_time)
    if isinstance(points, Missing):
        return points
    few, slow = points[0]
    weak = "weak" in {scaling_of(run) for run in runs}
    found = []
    for count, fast in points:
        gain = measure.ratio(slow, fast) if count != few else exact(1, where=slow.where)
        if isinstance(gain, Missing):
            return gain
        found.append((count, measure.scaled(gain, count / few) if weak else gain))
    return found


def from_one(runs: Sequence[Run]) -> Points | Missing:
    """Speedups for a law, which speaks of one worker."""
    points = speedups(runs)
    if not isinstance(points, Missing) and points[0][0] != 1:
        return Missing("a law needs a run on one worker", "submit the job with one task, too")
    return points


# --- metrics ------------------------------------------------------------------------------------


def sizes(runs: Sequence[Run], at: At) -> Result:
    """On how many sizes there are at least `repeats` runs of the same work."""
    sized = by_size(runs)
    if isinstance(sized, Missing):
        return sized
    needed = at.get("repeats", 1)
    enough = {count: same for count, same in sized.items() if len(same) >= needed}
    table = ", ".join(f"{len(same)} on {count}" for count, same in sized.items())
    where = lines([same[0] for same in sized.values()])
    return exact(len(enough), "sizes", where, f"runs: {table}{left_out(runs, sized)}")


def repeats(runs: Sequence[Run], at: At) -> Result:
    """Runs of the size that has fewest, or of one size."""
    sized = by_size(runs)
    if isinstance(sized, Missing):
        return sized
    if "size" in at:
        count = size_of(list(sized), at)
        if isinstance(count, Missing):
            return count
        return exact(len(sized[count]), "runs", lines(sized[count]))
    fewest = min(sized, key=lambda count: len(sized[count]))
    return exact(len(sized[fewest]), "runs", lines(sized[fewest]), f"on {fewest} workers")


def size_of(there: Sequence[int], at: At) -> int | Missing:
    asked = at.get("size", "largest")
    if asked in ("largest", "smallest"):
        return max(there) if asked == "largest" else min(there)
    if asked in there:
        return asked
    return Missing(f"no run of the same work on {asked} workers", "submit the job on this size")


def largest_size(runs: Sequence[Run], at: At) -> Result:
    sized = by_size(runs)
    if isinstance(sized, Missing):
        return sized
    return exact(max(sized), "workers", lines(sized[max(sized)]))


def at_size(points_of: Callable[[Sequence[Run]], Points | Missing]) -> Callable:
    def value(runs: Sequence[Run], at: At) -> Result:
        points = points_of(runs)
        if isinstance(points, Missing):
            return points
        known = dict(points)
        count = size_of(list(known), at)
        return count if isinstance(count, Missing) else known[count]

    return value


def efficiencies(runs: Sequence[Run]) -> Points | Missing:
    points = speedups(runs)
    if isinstance(points, Missing):
        return points
    return [(count, measure.scaled(gain, points[0][0] / count)) for count, gain in points]


def serial_fractions(runs: Sequence[Run]) -> Points | Missing:
    """Karp–Flatt on each size beyond one worker."""
    points = from_one(runs)
    if isinstance(points, Missing):
        return points
    found = [(count, measure.karp_flatt(gain, count)) for count, gain in points if count > 1]
    known = [(count, result) for count, result in found if isinstance(result, Measure)]
    return known or Missing("Karp–Flatt needs a run on at least two workers")


def fitted(law: Callable[[Points], Result]) -> Callable:
    def value(runs: Sequence[Run], at: At) -> Result:
        points = from_one(runs)
        return points if isinstance(points, Missing) else law(points)

    return value


def foretold(law: Callable[[Points, int], Result]) -> Callable:
    def value(runs: Sequence[Run], at: At) -> Result:
        points = from_one(runs)
        return points if isinstance(points, Missing) else law(points, at.get("workers", 1024))

    return value


def end(which: int) -> Callable[[Points, int], Result]:
    def bound(points: Points, workers: int) -> Result:
        both = scaling_laws.lowest_and_highest(points, workers)
        return both if isinstance(both, Missing) else both[which]

    return bound


def part_of_time(which: int) -> Callable:
    def value(runs: Sequence[Run], at: At) -> Result:
        points = times(runs, total_seconds)
        if isinstance(points, Missing):
            return points
        both = scaling_laws.fixed_and_divided(points)
        return both if isinstance(both, Missing) else both[which]

    return value


def total_seconds(run: Run) -> Result:
    if run.total_seconds is None:
        return Missing("the output does not say how long the run took")
    value = measure.printed(run.total_seconds, "s")
    if isinstance(value, Measure) and value.low <= 0:
        return Missing(f"the run says it took {value.value:g} s", where=value.where)
    return value


AT = {"size", "repeats", "workers"}  # what `at` may say

STUDIES: dict[str, Callable[[Sequence[Run], At], Result]] = {
    "study_sizes": sizes,
    "study_repeats": repeats,
    "study_largest": largest_size,
    "study_epoch_s": at_size(lambda runs: times(runs, measure.epoch_time)),
    "study_total_s": at_size(lambda runs: times(runs, total_seconds)),
    "study_speedup": at_size(speedups),
    "study_efficiency": at_size(efficiencies),
    "study_karp_flatt": at_size(serial_fractions),
    "study_amdahl_f": fitted(scaling_laws.amdahl),
    "study_gustafson_s": fitted(scaling_laws.gustafson),
    "study_fixed_s": part_of_time(0),
    "study_divided_s": part_of_time(1),
    "study_speedup_amdahl": foretold(scaling_laws.amdahl_speedup),
    "study_speedup_gustafson": foretold(scaling_laws.gustafson_speedup),
    "study_speedup_usl": foretold(scaling_laws.usl_speedup),
    "study_speedup_low": foretold(end(0)),
    "study_speedup_high": foretold(end(1)),
}
