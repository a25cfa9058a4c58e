"""Plot rates and speedups by batch, replicas and workers."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from autograder.measuring import interval, measure
from autograder.records import Number, Run
from lessons.toolkit.plots.figure import GREY, by_two, look, picture, with_whiskers


@picture
def throughput_by_batch(figure: Any, lines: Mapping[str, Sequence[Run]]) -> None:
    """Plot images per second against the batch size of one device."""
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


def epoch_times(runs: Iterable[Run]) -> Times:
    """Return the epoch time for each number of replicas or ranks.

    Of several runs with the same number, the latest counts.
    """
    times = [(run, interval.measured_or_none(measure.epoch_time, run)) for run in runs]
    return {measure.workers(run) or 1: time for run, time in times if time}


@picture
def speedups(figure: Any, series: Mapping[str, Times]) -> None:
    """Plot epoch time, speedup and efficiency by workers, with whiskers for each value's range."""
    figure.set_size_inches(8.4, 4)
    panels = figure.subplots(1, 3)
    counts = sorted({count for times in series.values() for count in times})
    for place, (name, times) in enumerate(series.items()):
        if not times:
            raise ValueError("There is no epoch time to draw: a run needs two epochs.")
        base = min(times)
        gains = {n: interval.ratio(times[base], time) for n, time in times.items()}
        gains[base] = interval.exact(1.0)  # the base's gain over itself
        shares = {n: interval.scaled(g, base / n) for n, g in gains.items()}
        for axes, values in zip(panels, (times, gains, shares), strict=True):
            with_whiskers(axes, values, label=name, **look(place), lw=1)
    ideal = [count / counts[0] for count in counts]
    panels[1].legend(handles=panels[1].plot(counts, ideal, "--", color=GREY, label="ideal"))
    panels[2].axhline(1, ls="--", color=GREY)
    for axes, what in zip(panels, ("epoch in s", "speedup", "efficiency"), strict=True):
        by_two(axes, counts, "replicas or ranks", what)
        axes.set_ylim(bottom=0)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper left")
