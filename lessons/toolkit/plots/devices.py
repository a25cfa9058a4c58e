"""Plot rates and speedups by batch, replicas and workers."""

import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from autograder.measuring import interval, measure
from autograder.records import Number, Run
from lessons.toolkit.plots.figure import (
    COLOURS,
    GREY,
    by_two,
    digits,
    look,
    picture,
    with_whiskers,
)


@picture
def throughput_by_batch(figure: Any, lines: Mapping[str, Sequence[Run]]) -> None:
    """Plot images per second against the batch size of one device.

    Whiskers: all epochs but the first.
    """
    axes = figure.subplots()
    for place, (name, runs) in enumerate(lines.items()):
        rates = {
            int(run.header.local_batch or 0): rate
            for run in sorted(runs, key=lambda run: run.header.local_batch or 0)
            if (rate := interval.measured_or_none(measure.throughput, run))
        }
        with_whiskers(axes, rates, label=name, **look(place))
    counts = {int(run.header.local_batch or 0) for runs in lines.values() for run in runs}
    by_two(axes, counts, "batch of a device", "images per second")
    axes.set_ylim(bottom=0)
    note = "whiskers: slowest and fastest epoch, without the first"
    figure.legend(loc="outside upper left", ncols=3, title=note, title_fontsize=9)


Times = dict[int, interval.Measure]


def whole_seconds(times: Mapping[int, float]) -> Times:
    """Return epoch times printed in whole seconds, each with a rounding error of half a second."""
    return {count: interval.printed(Number(value, 0.5), "s") for count, value in times.items()}


def times_by_replicas(runs: Sequence[Run]) -> Times:
    """Return the epoch time for each number of replicas.

    Of several runs with the same number, the latest counts.
    """
    times = [(measure.workers(run), interval.measured_or_none(measure.epoch_time, run))
             for run in runs]  # fmt: skip
    return {count or 1: time for count, time in times if time}


@picture
def replica_scaling(figure: Any, series: Mapping[str, Times]) -> None:
    """Plot epoch time, speedup and efficiency by number of replicas. Whiskers show rounding."""
    figure.set_size_inches(8.4, 4)
    seconds, gain, share = figure.subplots(1, 3)
    counts = sorted({count for times in series.values() for count in times})
    for place, (name, times) in enumerate(series.items()):
        base = min(times)
        gains = {count: gain_over(times[base], time) for count, time in times.items()}
        shares = {n: interval.scaled(g, base / n) for n, g in gains.items()}
        with_whiskers(seconds, times, label=name, **look(place), lw=1)
        with_whiskers(gain, gains, **look(place), lw=1)
        with_whiskers(share, shares, **look(place), lw=1)
    gain.plot(counts, [count / counts[0] for count in counts], "--", color=GREY, label="ideal")
    share.axhline(1, ls="--", color=GREY)
    gain.legend(loc="upper left")
    for axes, what in ((seconds, "epoch in s"), (gain, "speedup"), (share, "efficiency")):
        by_two(axes, counts, "replicas", what)
        axes.set_ylim(bottom=0)
    figure.legend(*seconds.get_legend_handles_labels(), loc="outside upper left", ncols=1)


def gain_over(base: interval.Measure, time: interval.Measure) -> interval.Measure:
    """Return the gain over the base. The base's gain over itself is exactly 1."""
    return interval.exact(1.0) if time is base else interval.ratio(base, time)


@picture
def speedup(figure: Any, runs: Sequence[Run]) -> None:
    """Plot speedup against workers, with the ideal line dashed. A point is a repeat."""
    points, left_out = repeats(runs)
    if not points:
        raise ValueError("There is no epoch time to draw: " + "; ".join(left_out or ["no runs"]))
    axes = figure.subplots()
    counts = sorted(points)
    base = interval.middle(points[counts[0]])
    gains = {count: [gain_over(base, time) for time in points[count]] for count in counts}
    ideal = [count / counts[0] for count in counts]
    axes.plot(counts, ideal, "--", color=GREY, label="ideal")
    for count, found in gains.items():
        for gain in found:
            with_whiskers(axes, {count: gain}, fmt="o", color=COLOURS[0], alpha=0.6)
    medians = [statistics.median(gain.value for gain in found) for found in gains.values()]
    label = f"median: {', '.join(digits(value) for value in medians)}"
    axes.plot(counts, medians, "-", color=COLOURS[0], lw=1, label=label)
    by_two(axes, counts, "workers", f"speedup over {counts[0]}")
    axes.set_yscale("log", base=2)
    axes.yaxis.set_major_formatter("{x:g}")
    axes.legend(loc="upper left")
    if left_out:
        figure.supxlabel("left out: " + "; ".join(left_out), fontsize=9, color=GREY, wrap=True)


def repeats(runs: Sequence[Run]) -> tuple[dict[int, list[interval.Measure]], list[str]]:
    """Return epoch times by worker count, and the runs not comparable to the smallest run."""
    points: dict[int, list[interval.Measure]] = {}
    left_out = []
    ordered = sorted(runs, key=lambda run: measure.workers(run) or 1)
    for run in ordered:
        try:
            time = measure.epoch_time(run)
            unlike = measure.not_comparable(ordered[0], run)
        except interval.NotMeasured as missing:
            unlike = [missing.reason]
        if unlike:
            names = ", ".join(Path(file).name for file in run.files)
            left_out.append(f"{names}: {'; '.join(unlike)}")
        else:
            points.setdefault(measure.workers(run) or 1, []).append(time)
    return points, left_out
