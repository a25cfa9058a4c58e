"""Plot an input pipeline: each source's samples per second, and the gain from overlapping."""

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from autograder.records import Run
from lessons.toolkit.plots.figure import COLOURS, GREY, digits, picture
from lessons.toolkit.plots.learning import seconds_of


def rates_of(run: Run) -> list[float]:
    """Return, for each epoch after the first, how many distinct samples were read per second."""
    later = list(zip(run.epochs, seconds_of(run), strict=True))[1:]
    return [
        epoch.unique_samples / seconds.value
        for epoch, seconds in later
        if epoch.unique_samples and seconds.value > 0
    ]


@picture
def input_rates(
    figure: Any, runs: Mapping[str, Run], net: Run, published: Mapping[str, float]
) -> None:
    """Plot images per second for each way of reading the data.

    The bar is the median, and each epoch is a point. A dashed line shows how many images per second
    a network consumes. If a bar ends left of the line, the network has to wait for its input.
    `published` maps the names of other networks to rates, shown as dotted lines.
    """
    known = {name: values for name, run in runs.items() if (values := rates_of(run))}
    figure.set_size_inches(7.2, 2 + 0.4 * len(known))
    axes = figure.subplots()
    slowest = statistics.median(next(iter(known.values())))
    ways = []
    for place, (name, values) in enumerate(known.items()):
        typical = statistics.median(values)
        axes.barh(place, typical, color=COLOURS[place % len(COLOURS)], alpha=0.45)
        axes.plot(values, [place] * len(values), "o", color=COLOURS[place % len(COLOURS)], ms=5)
        ways.append(f"{name}: {round(typical):,} ({typical / slowest:.1f} times the first)")
    lines = {f"{net.header.model}, here": statistics.median(rates_of(net))} | dict(published)
    for (name, value), style in zip(lines.items(), ["--", *":" * len(published)], strict=True):
        label = f"{name}: {digits(value) if value < 1000 else f'{round(value):,}'} per second"
        axes.axvline(value, color=GREY, ls=style, lw=1.8, label=label)
    axes.set_yticks(range(len(known)), ways)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlim(left=min(*lines.values(), *(min(values) for values in known.values())) / 2)
    axes.xaxis.set_major_formatter("{x:,g}")
    axes.xaxis.set_minor_formatter("")
    axes.grid(False, axis="y")
    axes.set_xlabel("images per second")
    figure.legend(loc="outside upper left", ncols=1, title="what a network consumes")


@picture
def input_overlap(figure: Any, ahead: Run, in_turn: Run) -> None:
    """Plot input alone, computing alone, and both together with the expected time, for each run.

    Input and computing times differ between runs, so each run has its own mark for the expected
    time.
    """
    figure.set_size_inches(7.2, 4.4)
    axes = figure.subplots()
    places = []
    for top, (name, run) in enumerate({"in turn": in_turn, "overlapped": ahead}.items()):
        t_in, t_comp = (median_of_measure([run], measure) for measure in ("input_s", "compute_s"))
        alone, place = 3 * top, 3 * top + 1
        behind, lower = (t_in, 0.0) if run is in_turn else (0.0, 0.4)
        expected, style, what = t_in + t_comp, "--", "the sum of both"
        if run is ahead:
            expected, style, what = max(t_in, t_comp), ":", "the longer of both"
        height = 0.8 - lower
        axes.barh(alone - lower / 2, t_in, height, color=COLOURS[0], label="input alone")
        axes.barh(alone + lower / 2, t_comp, height, left=behind, color=COLOURS[4],
                  label="computing alone (a wait)")  # fmt: skip
        axes.vlines(expected, alone - 0.5, place + 0.5, color=GREY, ls=style, lw=2,
                    label=f"expected: {what}")  # fmt: skip
        values = [number.value for number in seconds_of(run)[1:]]
        measured = statistics.median(values)
        axes.barh(place, measured, color=COLOURS[2], alpha=0.45, label="an epoch, measured")
        axes.plot(values, [place] * len(values), "o", color=COLOURS[2], ms=5)
        axes.text(0, place, f" {digits(measured)} s", va="center")
        places += [(alone, f"{name}:\neach alone"), (place, f"{name}:\nan epoch")]
    axes.set_yticks(*zip(*places, strict=True))
    axes.invert_yaxis()
    axes.grid(False, axis="y")
    axes.set_xlim(left=0)
    axes.set_xlabel("seconds")
    once = dict(zip(*axes.get_legend_handles_labels()[::-1], strict=True))
    figure.legend(once.values(), once.keys(), loc="outside upper left", ncols=2)


def median_of_measure(runs: Sequence[Run], name: str) -> float:
    """Return the median of a record's measure over all epochs of these runs."""
    values = [float(m["value"]) for run in runs for m in run.measured(name)]
    if not values:
        raise ValueError(f"The output has no {name}: run train.py with --compute-ms.")
    return statistics.median(values)
