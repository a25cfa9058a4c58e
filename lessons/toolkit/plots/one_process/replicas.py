"""Plot results by number of replicas: published times in whole seconds, and your own runs."""

from collections.abc import Mapping, Sequence
from typing import Any

from autograder.measuring import interval, measure
from autograder.records import Number, Run
from lessons.toolkit.plots.figure import COLOURS, GREY, MARKERS, digits, picture, table

Times = dict[int, interval.Measure]


def whole_seconds(times: Mapping[int, float]) -> Times:
    """Return epoch times printed in whole seconds, each with a rounding error of half a second."""
    found = {
        count: interval.measured_or_none(interval.printed, Number(value, 0.5), "s")
        for count, value in times.items()
    }
    return {count: time for count, time in found.items() if time}


def times_by_replicas(runs: Sequence[Run]) -> Times:
    """Return the epoch time for each number of replicas.

    Of several runs with the same number, the latest counts.
    """
    times = {
        measure.workers(run) or 1: interval.measured_or_none(measure.epoch_time, run)
        for run in runs
    }
    return {count: time for count, time in times.items() if time}


@picture
def replica_scaling(figure: Any, series: Mapping[str, Times]) -> None:
    """Plot epoch time, speedup and efficiency by number of replicas. Whiskers show rounding."""
    figure.set_size_inches(8.4, 4.4 + 0.3 * sum(len(times) for times in series.values()))
    above, below = figure.subfigures(2, 1, height_ratios=[3, 1.6])
    seconds, gain, share = above.subplots(1, 3)
    counts = sorted({count for times in series.values() for count in times})
    rows = []
    for place, (name, times) in enumerate(series.items()):
        look = {
            "color": COLOURS[place % len(COLOURS)],
            "fmt": f"{MARKERS[place % len(MARKERS)]}-",
            "capsize": 3,
            "lw": 1,
        }
        base = min(times)
        gains = {count: gain_over(times[base], time) for count, time in times.items()}
        shares = {n: interval.scaled(g, base / n) for n, g in gains.items()}
        for axes, values in ((seconds, times), (gain, gains), (share, shares)):
            middle = [value.value for value in values.values()]
            ends = [[v.value - v.low for v in values.values()],
                    [v.high - v.value for v in values.values()]]  # fmt: skip
            axes.errorbar(list(values), middle, ends, **look)
        seconds.plot([], [], look["fmt"], color=look["color"], label=name)
        rows += [
            [name, str(n), digits(times[n].value), between(gains[n]), between(shares[n])]
            for n in times
        ]
    gain.plot(counts, [count / counts[0] for count in counts], "--", color=GREY, label="ideal")
    share.axhline(1, ls="--", color=GREY)
    gain.legend(loc="upper left")
    for axes, what in ((seconds, "epoch in s"), (gain, "speedup"), (share, "efficiency")):
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_locator(_nothing())
        axes.set(xlabel="replicas", ylabel=what, xticks=counts)
        axes.set_ylim(bottom=0)
    above.legend(*seconds.get_legend_handles_labels(), loc="outside upper left", ncols=1)
    head = ["", "replicas", "epoch in s", "speedup", "efficiency"]
    table(below.subplots(), head, rows)


def gain_over(base: interval.Measure, time: interval.Measure) -> interval.Measure:
    """Return the gain over the base. The base's gain over itself is exactly 1."""
    if time is base:
        return interval.exact(1.0)
    return interval.measured_or_none(interval.ratio, base, time) or interval.exact(float("nan"))


def between(value: interval.Measure) -> str:
    return (
        f"{value.value:.2f}"
        if value.low == value.high
        else f"{value.value:.2f} ({value.low:.2f} to {value.high:.2f})"
    )


def _nothing() -> Any:
    from matplotlib.ticker import NullLocator

    return NullLocator()
