"""Plot an input pipeline: each source's samples per second, and the gain from overlapping."""

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from autograder.records import Run
from lessons.toolkit.plots.figure import COLOURS, GREY, canvas, digits, look, picture, rows
from lessons.toolkit.plots.learning import seconds_of


def rates_of(run: Run) -> list[float]:
    """Return, for each epoch after the first, how many distinct samples were read per second."""
    known = [(epoch.unique_samples, epoch.seconds) for epoch in run.epochs[1:]]
    return [seen / s.value for seen, s in known if seen and s and s.value > 0]


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
    axes = canvas(figure, 7.2, 2 + 0.4 * len(known))
    slowest = statistics.median(next(iter(known.values())))
    ways = []
    for place, (name, values) in enumerate(known.items()):
        typical = bar_and_points(axes, place, values, look(place)["color"])
        ways.append(f"{name}: {round(typical):,} ({typical / slowest:.1f} times the first)")
    lines = {f"{net.header.model}, here": statistics.median(rates_of(net))} | dict(published)
    for (name, value), style in zip(lines.items(), ["--", *":" * len(published)], strict=True):
        label = f"{name}: {digits(value) if value < 1000 else f'{round(value):,}'} per second"
        axes.axvline(value, color=GREY, ls=style, lw=1.8, label=label)
    rows(axes, ways)
    slowest = min(*lines.values(), *(min(values) for values in known.values()))
    axes.set(xscale="log", xlim=(slowest / 2, None), xlabel="images per second")
    axes.xaxis.set_major_formatter("{x:,g}")
    axes.xaxis.set_minor_formatter("")
    figure.legend(loc="outside upper left", title="what a network consumes")


def bar_and_points(axes: Any, place: int, values: Sequence[float], colour: str) -> float:
    """Draw a row: a bar for the median, which is returned, and a point for each value."""
    typical = statistics.median(values)
    axes.barh(place, typical, color=colour, alpha=0.45)
    axes.plot(values, [place] * len(values), "o", color=colour, ms=5)
    return typical


LEGEND = (
    (COLOURS[0], 1, "input alone"),
    (COLOURS[4], 1, "computing alone (a wait)"),
    (COLOURS[2], 0.45, "an epoch, measured"),
)


@picture
def input_overlap(figure: Any, ahead: Run, in_turn: Run) -> None:
    """Plot input alone, computing alone, and both together with the expected time, for each run.

    Input and computing times differ between runs, so each run has its own mark for the expected
    time.
    """
    axes = canvas(figure, 7.2, 4.4)
    labels = []
    for top, (name, run) in enumerate({"in turn": in_turn, "overlapped": ahead}.items()):
        t_in, t_comp = (median_of_measure([run], measure) for measure in ("input_s", "compute_s"))
        alone, both = 2 * top, 2 * top + 1
        if run is in_turn:
            expected, style, what, behind, aside = t_in + t_comp, "--", "sum", t_in, 0.0
        else:
            expected, style, what, behind, aside = max(t_in, t_comp), ":", "longer", 0.0, 0.2
        axes.barh(alone - aside, t_in, 0.8 - 2 * aside, color=COLOURS[0])
        axes.barh(alone + aside, t_comp, 0.8 - 2 * aside, behind, color=COLOURS[4])
        line = {"color": GREY, "ls": style, "lw": 2, "label": f"expected: the {what} of both"}
        axes.vlines(expected, alone - 0.5, both + 0.5, **line)
        measured = bar_and_points(axes, both, [s.value for s in seconds_of(run)[1:]], COLOURS[2])
        axes.text(0, both, f" {digits(measured)} s", va="center")
        labels += [f"{name}:\neach alone", f"{name}:\nan epoch"]
    rows(axes, labels)
    axes.set(xlim=(0, None), xlabel="seconds")
    for colour, alpha, label in LEGEND:
        axes.barh(0, 0, color=colour, alpha=alpha, label=label)
    figure.legend(loc="outside upper left", ncols=2)


def median_of_measure(runs: Sequence[Run], name: str) -> float:
    """Return the median of a record's measure over all epochs of these runs."""
    values = [float(m["value"]) for run in runs for m in run.measured(name)]
    if not values:
        raise ValueError(f"The output has no {name}: run train.py with --compute-ms.")
    return statistics.median(values)
