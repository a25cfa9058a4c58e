"""Plot rates and speedups by batch, replicas and workers."""

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from autograder.measuring import interval, measure
from autograder.records import Number, Run
from lessons.toolkit.plots.figure import COLOURS, GREY, by_two, digits, look, picture, with_whiskers


@picture
def throughput_by_batch(figure: Any, lines: Mapping[str, Sequence[Run]]) -> None:
    """Plot images per second against the batch size of one device.

    Whiskers: all epochs but the first.
    """
    axes = figure.subplots()
    counts: set[int] = set()
    for place, (name, runs) in enumerate(lines.items()):
        found = [(int(run.header.local_batch or 0), run) for run in runs]
        rates = {n: interval.measured_or_none(measure.throughput, run) for n, run in found}
        known = {n: rate for n, rate in sorted(rates.items()) if rate}
        with_whiskers(axes, known, label=name, **look(place))
        counts |= rates.keys()
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
    times = [(run, interval.measured_or_none(measure.epoch_time, run)) for run in runs]
    return {measure.workers(run) or 1: time for run, time in times if time}


@picture
def replica_scaling(figure: Any, series: Mapping[str, Times]) -> None:
    """Plot epoch time, speedup and efficiency by number of replicas. Whiskers show rounding."""
    figure.set_size_inches(8.4, 4)
    panels = figure.subplots(1, 3)
    counts = sorted({count for times in series.values() for count in times})
    for place, (name, times) in enumerate(series.items()):
        base = min(times)
        gains = {count: gain_over(times[base], time) for count, time in times.items()}
        shares = {n: interval.scaled(g, base / n) for n, g in gains.items()}
        for axes, values in zip(panels, (times, gains, shares), strict=True):
            with_whiskers(axes, values, label=name, **look(place), lw=1)
    ideal = [count / counts[0] for count in counts]
    panels[1].legend(handles=panels[1].plot(counts, ideal, "--", color=GREY, label="ideal"))
    panels[2].axhline(1, ls="--", color=GREY)
    for axes, what in zip(panels, ("epoch in s", "speedup", "efficiency"), strict=True):
        by_two(axes, counts, "replicas", what)
        axes.set_ylim(bottom=0)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper left")


def gain_over(base: interval.Measure, time: interval.Measure) -> interval.Measure:
    """Return the gain over the base. The base's gain over itself is exactly 1."""
    return interval.exact(1.0) if time is base else interval.ratio(base, time)


@picture
def speedup(figure: Any, runs: Sequence[Run]) -> None:
    """Plot speedup against workers, with the ideal line dashed. A point is a repeat."""
    points: dict[int, list[interval.Measure]] = {}
    for run in sorted(runs, key=lambda run: measure.workers(run) or 1):
        if time := interval.measured_or_none(measure.epoch_time, run):
            points.setdefault(measure.workers(run) or 1, []).append(time)
    if not points:
        raise ValueError("There is no epoch time to draw.")
    axes = figure.subplots()
    counts = list(points)
    base = interval.middle(points[counts[0]])
    gains = {count: [gain_over(base, time) for time in times] for count, times in points.items()}
    ideal = [count / counts[0] for count in counts]
    axes.plot(counts, ideal, "--", color=GREY, label="ideal")
    for count, gain in ((count, gain) for count, found in gains.items() for gain in found):
        with_whiskers(axes, {count: gain}, fmt="o", color=COLOURS[0], alpha=0.6)
    medians = [statistics.median(gain.value for gain in found) for found in gains.values()]
    label = f"median: {', '.join(digits(value) for value in medians)}"
    axes.plot(counts, medians, "-", color=COLOURS[0], lw=1, label=label)
    by_two(axes, counts, "workers", f"speedup over {counts[0]}", up=True)
    axes.legend(loc="upper left")
