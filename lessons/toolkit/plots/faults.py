"""A picture of what a missing line does: each fault beside the intact run."""

import math
from collections.abc import Mapping
from typing import Any

from autograder.records import Run
from lessons.toolkit.plots.figure import COLOURS, GREY, MARKERS, picture, table

LOWEST = 1e-6  # of the spreads that are drawn; below it stands the line of 0
HEAD = ("without", "spread", "last loss", "test accuracy", "rate", "epoch in s", "images seen")


@picture
def faults(figure: Any, runs: Mapping[str, Run], intact: str = "nothing") -> None:
    """Spread of the parameters by step, and loss by epoch; below, the numbers of every run.

    runs: what was left out -> the run. Drawn is the record's measure `spread`, at each step that
    the program looked at it; a program that did not look has the spread of its end.
    """
    figure.set_size_inches(7.8, 4.2 + 0.34 * len(runs))
    upper, below = figure.subfigures(2, 1, height_ratios=[3.2, 0.5 + 0.34 * len(runs)])
    left, right = upper.subplots(1, 2)
    longest = 0
    for place, (name, run) in enumerate(runs.items()):
        look = {"color": COLOURS[place % len(COLOURS)], "marker": MARKERS[place % len(MARKERS)]}
        look |= {"color": GREY, "ls": "--"} if name == intact else {"ls": "-"}
        points = spreads(run)
        left.plot(*zip(*points, strict=True), **look, lw=1.4, ms=4, alpha=0.8, label=name)
        losses = [(e.number, e.train_loss.value) for e in run.epochs if e.train_loss]
        if losses:
            right.plot(*zip(*losses, strict=True), **look, lw=1.4, ms=4, alpha=0.8)
        longest = max(longest, len(losses))
    left.set_xscale("symlog", linthresh=1)
    left.set_yscale("symlog", linthresh=LOWEST)
    left.set_ylim(-LOWEST / 2, 2)
    left.set_yticks([0, 1e-6, 1e-4, 1e-2, 1], ["0", "1e-6", "1e-4", "0.01", "1"])
    left.xaxis.set_major_formatter("{x:g}")
    left.set(xlabel="step", ylabel="spread of the parameters", xlim=(-0.2, None))
    right.set(xlabel="epoch", ylabel="training loss", xticks=range(1, longest + 1))
    upper.legend(*left.get_legend_handles_labels(), loc="outside upper left", ncols=4)
    table(below.subplots(), HEAD, [row(name, run) for name, run in runs.items()])


def spreads(run: Run) -> list[tuple[float, float]]:
    """(step, spread) of a run, in the order of its steps."""
    found = [(m["step"], m["value"]) for m in run.measures if m.get("name") == "spread"]
    if not found:
        found = [(sum(epoch.steps or 0 for epoch in run.epochs), end_of(run))]
    return sorted(found)


def end_of(run: Run) -> float:
    return float((run.end or {}).get("param_spread") or 0.0)


def row(name: str, run: Run) -> list[str]:
    last = run.epochs[-1] if run.epochs else None
    loss = last.train_loss.value if last and last.train_loss else math.nan
    accuracy = run.test_accuracy.value if run.test_accuracy else math.nan
    seconds = last.seconds.value if last and last.seconds else math.nan
    seen = f"{last.unique_samples or 0:,}" if last else "none"
    rate = run.header.get("lr")
    told = f"{rate:g}" if isinstance(rate, int | float) else "?"
    return [name, f"{end_of(run):.3g}", f"{loss:.3f}", f"{accuracy:.3f}", told,
            f"{seconds:.2f}", seen]  # fmt: skip
