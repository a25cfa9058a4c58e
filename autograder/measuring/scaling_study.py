"""Measure all finished runs that share a name in a rubric: a scaling study or a sweep.

Each metric is a function of all runs and of `at`, a selector such as `{size: 4}`,
`{size: largest}`, `{repeats: 3}` or `{workers: 1024}`. See `study_table` for how the sizes of a
scaling study are compared.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from statistics import mean
from typing import Any

from autograder.codes import ReasonCode
from autograder.measuring import measure, rounds, study_points, study_table
from autograder.measuring.interval import Measure, NotMeasured, exact
from autograder.measuring.record_facts import first_line
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
    """Return a function that computes a law's parameter or prediction from speedups."""

    def value(runs: Sequence[Run], at: At) -> Measure:
        points = [(row.ranks, row.speedup) for row in study_table.rows(runs)]
        if points[0][0] != 1:
            hint = "also submit the job with one task"
            raise NotMeasured("a law needs a run on one worker", hint)
        return law(points, **{**defaults, **at})

    return value


# --- a sweep over workers, rules and seeds ------------------------------------------------------

# The program's header defines what a worker is. A single process can train as many workers would.


def latest(runs: Sequence[Run], *facts: str) -> dict[tuple, Run]:
    """Return the latest run for each number of workers and each combination of these facts."""
    found: dict[tuple, Run] = {}
    for run in runs:  # oldest first
        count = measure.whole(run.header.get("workers"))
        if count is not None:
            found[count, *(str(run.header.get(fact)) for fact in facts)] = run
    return found


def useful_workers(runs: Sequence[Run], at: At) -> Measure:
    """Return the largest N whose best rule loses at most `within` in accuracy relative to N = 1.

    The accuracy of a rule is the mean over the seeds.
    """
    by_rule: dict[tuple[int, str], list[float]] = {}
    for (count, rule, _), run in latest(runs, "rule", "seed").items():
        by_rule.setdefault((count, rule), []).append(measure.test_accuracy(run).value)
    best: dict[int, float] = {}
    for (count, _), accuracies in by_rule.items():
        best[count] = max(best.get(count, 0.0), mean(accuracies))
    if 1 not in best:
        raise NotMeasured("the sweep has no run with one worker", "submit it with --workers 1 …")
    largest = max(count for count, accuracy in best.items() if accuracy >= best[1] - at["within"])
    table = ", ".join(f"{accuracy:.4f} for {count}" for count, accuracy in sorted(best.items()))
    return exact(largest, "workers", first_line(runs[-1]), f"the best of each N: {table}")


def sooner(runs: Sequence[Run], at: At) -> Measure:
    """Return the speedup of `workers` workers over one worker in reaching the accuracy.

    Communication counts as free. The result is N divided by the ratio of the epochs that N workers
    and one worker need. The result is averaged over the seeds that reach the accuracy.
    """
    target, several = at["accuracy"], at["workers"]
    needed: dict[float, list[int]] = {}  # by N: the epoch in which each seed first reaches it
    for (count, _), run in latest(runs, "seed").items():
        for number, epoch in enumerate(run.epochs, start=1):
            if epoch.val_accuracy and epoch.val_accuracy.value >= target:
                needed.setdefault(count, []).append(number)
                break
    for count in (1, several):
        if count not in needed:
            raise NotMeasured(
                f"no finished run of {count:g} workers reached an accuracy of {target:g}",
                "submit the output as it is; the program stops by itself",
            )
    gain = mean(several * mean(needed[1]) / epochs for epochs in needed[several])
    table = "; ".join(f"{count} workers {epochs}" for count, epochs in sorted(needed.items()))
    return exact(gain, "", first_line(runs[-1]), f"epochs until {target:g}: {table}")
