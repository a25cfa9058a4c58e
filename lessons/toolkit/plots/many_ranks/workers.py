"""Plot results by number of workers: speedup, time and accuracy, and the work per epoch."""

import math
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from autograder.measuring import interval, measure
from autograder.records import Run
from lessons.toolkit.plots.figure import COLOURS, GREY, MARKERS, digits, picture, table


@picture
def speedup(figure: Any, runs: Sequence[Run] | Mapping[int, Sequence[float]]) -> None:
    """Plot speedup against workers, with the ideal line dashed and the numbers below.

    A point is a repeat.

    runs: runs that were read from outputs, or {workers: seconds of an epoch, one per repeat}.
    """
    points, left_out = repeats(runs)
    if not points:
        raise ValueError("There is no epoch time to draw: " + "; ".join(left_out or ["no runs"]))
    figure.set_size_inches(7.2, 4.4 + 0.28 * len(points))
    axes, below = figure.subplots(2, 1, height_ratios=[4, 0.4 + 0.3 * len(points)])
    counts = sorted(points)
    base = interval.middle(points[counts[0]])
    ideal = [count / counts[0] for count in counts]
    axes.plot(counts, ideal, "--", color=GREY, label="ideal")
    rows = []
    for count in counts:
        gains = [
            gain
            for t in points[count]
            if (gain := interval.measured_or_none(interval.ratio, base, t))
        ]
        values = [gain.value for gain in gains]
        errors = [[g.value - g.low for g in gains], [g.high - g.value for g in gains]]
        axes.errorbar(
            [count] * len(gains), values, errors, fmt="o", color=COLOURS[0], ecolor="#9DC3DC",
            capsize=3, alpha=0.8, label="one run each" if count == counts[0] else None,
        )  # fmt: skip
        typical = statistics.median(values)
        times = [time.value for time in points[count]]
        spread = f"{digits(min(times))} to {digits(max(times))}" if len(times) > 1 else "one run"
        efficiency = f"{100 * typical * counts[0] / count:.0f} %"
        median = digits(statistics.median(times))
        rows.append([str(count), str(len(times)), median, spread, f"{typical:.2f}", efficiency])
    medians = [float(row[4]) for row in rows]
    axes.plot(counts, medians, "-", color=COLOURS[0], lw=1, label="median")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter("{x:g}")
    axes.set(xlabel="workers", ylabel=f"speedup over {counts[0]}", xticks=counts)
    axes.legend(loc="upper left")
    table(below, ["workers", "runs", "epoch in s", "from … to", "speedup", "efficiency"], rows)
    if left_out:
        figure.supxlabel("left out: " + "; ".join(left_out), fontsize=9, color=GREY, wrap=True)


def repeats(
    runs: Sequence[Run] | Mapping[int, Sequence[float]],
) -> tuple[dict[int, list[interval.Measure]], list[str]]:
    """Return epoch times by worker count, and the runs not comparable to the smallest run."""
    if isinstance(runs, Mapping):
        return {
            count: [interval.exact(value, "s") for value in seconds]
            for count, seconds in runs.items()
        }, []
    points: dict[int, list[interval.Measure]] = {}
    left_out = []
    ordered = sorted(runs, key=lambda run: measure.workers(run) or 1)
    for run in ordered:
        name = ", ".join(Path(file).name for file in run.files)
        try:
            time = measure.epoch_time(run)
        except interval.NotMeasured as missing:
            left_out.append(f"{name}: {missing.reason}")
            continue
        unlike = measure.not_comparable(ordered[0], run)
        if unlike:
            left_out.append(f"{name}: {'; '.join(unlike)}")
        else:
            points.setdefault(measure.workers(run) or 1, []).append(time)
    return points, left_out


@picture
def time_and_accuracy(
    figure: Any,
    runs: Mapping[str, Sequence[Run]],
    published: Mapping[int, float] | None = None,
) -> None:
    """Plot total seconds and test accuracy against the number of ranks. Every run is a point."""
    left, right = figure.subplots(1, 2)
    figure.set_size_inches(7.6, 4.2)
    counts: set[int] = set()
    for place, (name, found) in enumerate(runs.items()):
        colour, marker = COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]
        for axes, which in ((left, "total_seconds"), (right, "test_accuracy")):
            known = [
                (run.workers or 1, getattr(run, which).value)
                for run in found
                if getattr(run, which) is not None
            ]
            counts |= {count for count, _ in known}
            axes.plot(*zip(*known, strict=True), marker, color=colour)
            typical = [
                (count, statistics.median(value for at, value in known if at == count))
                for count in sorted({count for count, _ in known})
            ]
            axes.plot(*zip(*typical, strict=True), "-", color=colour, lw=1)
        left.plot([], [], f"{marker}-", color=colour, label=name)
    if published:
        right.plot(
            published.keys(), published.values(), "o", color=GREY, mfc="none", ms=9,
            label="published (Jülich): 60,000 images, one GPU per rank",
        )  # fmt: skip
        counts |= set(published)
    for axes, what in ((left, "start to end in s"), (right, "test accuracy")):
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_formatter("{x:g}")
        axes.set(xlabel="ranks", ylabel=what, xticks=sorted(counts))
    left.set_ylim(bottom=0)
    figure.legend(loc="outside upper left", ncols=2)


@picture
def steps_and_seconds(figure: Any, runs: Mapping[str, Run]) -> None:
    """Plot steps and seconds per epoch: one bar per run, with a table of the numbers below."""
    names = list(runs)
    figure.set_size_inches(7.2, 3.4 + 0.3 * len(names))
    axes, below = figure.subplots(2, 1, height_ratios=[3, 0.5 + 0.32 * len(names)])
    rows = []
    for place, (name, run) in enumerate(runs.items()):
        time = interval.measured_or_none(measure.epoch_time, run)
        seconds = time.value if time else math.nan
        axes.barh(place, seconds, color=COLOURS[place % len(COLOURS)])
        unique = run.epochs[-1].unique_samples if run.epochs else None
        steps = run.epochs[-1].steps if run.epochs else None
        rows.append([name, str(run.workers), str(steps), f"{unique or 0:,}", digits(seconds)])
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.grid(False, axis="y")
    axes.set_xlabel("seconds per epoch (first epoch left out)")
    table(below, ["run", "ranks", "steps", "different images", "epoch in s"], rows)
