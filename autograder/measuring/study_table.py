"""Build and measure the table of a scaling study, for reports, `autograder read` and grading.

A size is a number of workers. The value at a size is the median over its runs, and its interval is
their range. Only runs with the same work and hardware as those on the fewest workers are compared.
If one launch measured all sizes in rounds, they are compared within a round, because other load on
the machine affects all of them equally.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from autograder.codes import Outcome, ReasonCode
from autograder.measuring import interval, measure, rounds
from autograder.measuring.interval import Measure, NotMeasured, exact, printed
from autograder.measuring.rounds import AS_WRITTEN
from autograder.records import Epoch, MeasureEvent, Number, Run
from autograder.safe_text import shortened

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


HEAD = ("ranks", "runs", "seconds", "from", "to", "speedup", "low", "high", "efficiency")
SIGNIFICANT = 4  # significant digits of seconds


@dataclass(frozen=True, slots=True)
class SizeRow:
    """The row of one size: its runs, its seconds, and the ratio to the fewest ranks."""

    ranks: int
    runs: int
    seconds: Measure
    speedup: Measure
    efficiency: Measure

    @property
    def values(self) -> dict[str, float]:
        """Return the row's numbers, keyed by the columns in HEAD."""
        seconds, gain = self.seconds, self.speedup
        numbers = (seconds.value, *seconds.ends, gain.value, *gain.ends, self.efficiency.value)
        return dict(zip(HEAD, (self.ranks, self.runs, *numbers), strict=True))

    @property
    def cells(self) -> list[str]:
        ranks, runs, *numbers = self.values.values()
        seconds = [f"{value:.{SIGNIFICANT}g}" for value in numbers[:3]]
        return [str(ranks), str(runs), *seconds, *(f"{value:.2f}" for value in numbers[3:])]


def line(cells: Sequence[str]) -> str:
    """Return a line of the table as text."""
    return " ".join(f"{cell:>11}" for cell in cells)


def scaling_of(run: Run) -> str | None:
    """Return the kind of scaling, or None for a run on one worker, which matches every kind."""
    return run.header.scaling if run.header.scaling != "serial" else None


def by_size(runs: Sequence[Run]) -> dict[int, list[Run]]:
    """Group runs by number of workers, without runs that differ in work or hardware."""
    sized: dict[int, list[Run]] = {}
    runs = expanded(runs)
    for run in runs:
        if (count := measure.workers(run)) is not None:
            sized.setdefault(count, []).append(run)
    if not sized:
        raise NotMeasured("no run reports its number of workers", code=ReasonCode.NO_RUN_OF_SIZE)
    base = sized[min(sized)][-1]
    kinds = sorted({kind for run in runs if (kind := scaling_of(run))})
    if len(kinds) > 1:
        names = " and ".join(shortened(kind, 20) for kind in kinds)
        hint = "use a different name for the runs of each kind"
        raise NotMeasured(f"{names} scaling are different studies", hint)
    kind = kinds[0] if kinds else None
    comparable = {
        count: [run for run in sized[count] if not measure.not_comparable(base, run, kind)]
        for count in sorted(sized)
    }
    return {count: same for count, same in comparable.items() if same}


def rows(runs: Sequence[Run]) -> list[SizeRow]:
    """Return a row for each size whose runs did the same work, or raise NotMeasured.

    Speedups are relative to the fewest workers. For weak scaling, they compare work per second.
    """
    sized = by_size(runs)
    times = {n: interval.each_measured(pass_time, sized[n]) for n in sized}
    weak = "weak" in {scaling_of(run) for run in runs}
    gains, few = gains_in_rounds(sized), min(times)
    table: list[SizeRow] = []
    for count, repeats in sorted(times.items()):
        here = interval.middle(repeats, f"median of {len(repeats)} runs")
        gain = gains.get(count) or interval.ratio(table[0].seconds if table else here, here)
        if not table:
            gain = interval.exact(1, where=here.where)
        if weak:
            gain = interval.scaled(gain, count / few)
        table.append(SizeRow(count, len(repeats), here, gain, interval.scaled(gain, few / count)))
    return table


def gains_in_rounds(sized: Mapping[int, Sequence[Run]]) -> dict[int, Measure]:
    """Return each size's speedup: the base's time divided by its own, paired within each round."""
    few = min(sized)
    gains: dict[int, list[Measure]] = {}
    for by_ranks in by_round([run for same in sized.values() for run in same]):
        times = {count: pass_time(run) for count, run in by_ranks.items()}
        for count in times if few in times else ():
            gains.setdefault(count, []).append(interval.ratio(times[few], times[count]))
    return {n: interval.middle(own, f"median of {len(own)} rounds") for n, own in gains.items()}


def by_kind(runs: Sequence[Run]) -> Iterator[tuple[str, list[SizeRow]]]:
    """Yield one table for each kind of scaling that the runs of one launch measured."""
    done = [run for run in runs if run.outcome == Outcome.COMPLETED]
    points = [run for run in expanded(done) if run.point]
    for kind in ("strong", "epoch", "weak"):
        same_kind = [run for run in points if run.header.scaling == kind]
        if same_kind:
            yield kind, interval.measured_or_none(rows, same_kind) or []


# --- metrics of all runs of a name; `at` selects, as in {size: 4} or {repeats: 3} ---------------

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
    by_ranks = {row.ranks: row for row in rows(runs)}
    return by_ranks[chosen_size(by_ranks, at)].efficiency


def least_at_size(of: Callable[[Run], Measure], runs: Sequence[Run], at: At) -> Measure:
    """Return the smallest value at the size in `at`, or at the largest size."""
    sized = by_size(runs)
    return min(map(of, sized[chosen_size(sized, at)]), key=lambda measure: measure.value)


def worst_of_points(name: str, choose: Callable, runs: Sequence[Run], at: At) -> Measure:
    """Return the largest or smallest value among a study's points."""
    points = [run.point for run in expanded(runs) if run.point]
    if not points:
        raise NotMeasured("the runs contain no points of a study", "submit a study's output")
    return rounds.worst(points, name, choose)


def of_law(law: Callable[..., Measure], runs: Sequence[Run], at: At) -> Measure:
    """Return a law's parameter or prediction, computed from the speedups of all sizes."""
    points = [(row.ranks, row.speedup) for row in rows(runs)]
    if points[0][0] != 1:
        raise NotMeasured("a law needs a run on one worker", "also submit it with one task")
    return law(points, **at)
