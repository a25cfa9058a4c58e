"""Pictures of the input: samples a second of its sources, and what overlapping gains."""

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from autograder.records import Run
from lessons.toolkit.plots import COLOURS, GREY, digits, picture, seconds_of, table


def rates_of(run: Run) -> list[float]:
    """Different samples a second of each epoch after the first."""
    later = list(zip(run.epochs, seconds_of(run), strict=True))[1:]
    return [
        epoch.unique_samples / seconds.value
        for epoch, seconds in later
        if epoch.unique_samples and seconds.value > 0
    ]


@picture
def rates(
    figure: Any,
    runs: Mapping[str, Run],
    net: Run | None = None,
    published: Mapping[str, float] | None = None,
) -> None:
    """Images a second of each way to read: a bar at the median, each epoch a point.

    A dashed line shows what a network consumes; what stands left of it lets the network wait.
    `published`: other networks' rates, by name, as dotted lines.
    """
    known = {name: rates_of(run) for name, run in runs.items()}
    known = {name: values for name, values in known.items() if values}
    if not known:
        raise ValueError("There is no run with two or more epochs to draw.")
    figure.set_size_inches(7.2, 2.8 + 0.62 * len(known))
    axes, below = figure.subplots(
        2, 1, height_ratios=[1 + 0.4 * len(known), 0.5 + 0.3 * len(known)]
    )
    slowest = statistics.median(next(iter(known.values())))
    rows = []
    for place, (name, values) in enumerate(known.items()):
        typical = statistics.median(values)
        axes.barh(place, typical, color=COLOURS[place % len(COLOURS)], alpha=0.45)
        axes.plot(values, [place] * len(values), "o", color=COLOURS[place % len(COLOURS)], ms=5)
        spread = f"{round(min(values)):,} to {round(max(values)):,}"
        rows.append([name, f"{round(typical):,}", spread, f"{typical / slowest:.1f}"])
    lines: list[tuple[str, float, str]] = []
    if net is not None and (values := rates_of(net)):
        lines.append((f"{net.header.get('model')}, here", statistics.median(values), "--"))
    lines += [(name, value, ":") for name, value in (published or {}).items()]
    for name, value, style in lines:
        label = f"{name}: {digits(value) if value < 1000 else f'{round(value):,}'} a second"
        axes.axvline(value, color=GREY, ls=style, lw=1.8, label=label)
    axes.set_yticks(range(len(known)), list(known))
    axes.invert_yaxis()
    axes.set_xscale("log")
    low = min([value for _, value, _ in lines] + [min(values) for values in known.values()])
    axes.set_xlim(left=low / 2)
    axes.xaxis.set_major_formatter("{x:,g}")
    axes.xaxis.set_minor_formatter("")
    axes.grid(False, axis="y")
    axes.set_xlabel("images a second")
    if lines:
        figure.legend(loc="outside upper left", ncols=1, title="what a network consumes")
    first = next(iter(known))
    table(below, ["way", "images a second", "from … to", f"over “{first}”"], rows)


@picture
def overlap(figure: Any, ahead: Run, in_turn: Run) -> None:
    """Input, computing, their sum, and what an epoch took in turn and overlapped."""
    figure.set_size_inches(7.2, 3.6)
    axes = figure.subplots()
    t_in, t_comp = (median_of((ahead, in_turn), name) for name in ("input_s", "compute_s"))
    axes.barh(0, t_in, color=COLOURS[0], label="input alone")
    axes.barh(0, t_comp, left=t_in, color=COLOURS[4], label="computing alone (a wait)")
    bars = {"in turn": in_turn, "overlapped": ahead}
    for place, (name, run) in enumerate(bars.items(), start=1):
        values = [number.value for number in seconds_of(run)[1:]]
        axes.barh(place, statistics.median(values), color=COLOURS[2], alpha=0.45,
                  label="an epoch with both, measured" if place == 1 else None)  # fmt: skip
        axes.plot(values, [place] * len(values), "o", color=COLOURS[2], ms=5)
        axes.text(0.01, place, f" {name}: {digits(statistics.median(values))} s", va="center")
    axes.axvline(t_in + t_comp, color=GREY, ls="--", label="the sum of both")
    axes.axvline(max(t_in, t_comp), color=GREY, ls=":", lw=2, label="the longer of both")
    axes.set_yticks(range(3), ["each alone", *bars])
    axes.invert_yaxis()
    axes.grid(False, axis="y")
    axes.set_xlim(left=0)
    axes.set_xlabel("seconds")
    figure.legend(loc="outside upper left", ncols=2)


def median_of(runs: Sequence[Run], name: str) -> float:
    """The median of a record's measure over all epochs of these runs."""
    values = [float(m["value"]) for run in runs for m in run.measures if m.get("name") == name]
    if not values:
        raise ValueError(f"The output measured no {name}: give train.py --compute-ms.")
    return statistics.median(values)


@picture
def class_in_batches(figure: Any, orders: Mapping[str, Sequence[Any]], batch: int) -> None:
    """For each way to shuffle: what share of each batch is of its most frequent class."""
    import numpy as np

    figure.set_size_inches(7.2, 4)
    axes = figure.subplots()
    for place, (name, read) in enumerate(orders.items()):
        labels = np.asarray(read)
        shares = [
            np.bincount(labels[start : start + batch]).max() / len(labels[start : start + batch])
            for start in range(0, len(labels), batch)
        ]
        axes.plot(shares, color=COLOURS[place % len(COLOURS)], lw=1.5, label=name)
    axes.set(xlabel="batch of the epoch", ylabel="share of one class", ylim=(0, 1.03))
    figure.legend(loc="outside upper left", ncols=1)
