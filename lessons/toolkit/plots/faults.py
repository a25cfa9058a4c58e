"""A picture of the effect of a missing line: each faulty run beside the intact one."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from autograder.records import Run
from lessons.toolkit.plots.figure import GREY, look, picture, table

AXES = {"spread": "spread of the parameters", "lr": "learning rate", "": ""}
UNKNOWN = {"?", "nan", "none"}  # a column of nothing else is left out
LOWEST = 1e-6  # the smallest spread that is drawn; the line of 0 is below it
HEAD = ("spread", "last loss", "test\naccuracy", "rate", "epoch\nin s", "samples\nseen")


@picture
def faults(
    figure: Any,
    runs: Mapping[str, Run],
    path: str = "spread",
    more: Sequence[str] = (),
    names: str = "without",
) -> None:
    """Plot a measure by step and the loss by epoch, with the numbers of every run below.

    runs: the missing part -> the run without it. path: the measure to draw, at each step at which
    the program recorded it, or "" to draw only the loss. `more`: other measures or header facts,
    one column each. `names`: the title of the first column.
    """
    figure.set_size_inches(7.8 + len(more), 4.2 + 0.34 * len(runs))
    upper, below = figure.subfigures(2, 1, height_ratios=[3.2, 0.7 + 0.34 * len(runs)])
    *left, right = upper.subplots(1, 2 if path else 1, squeeze=False)[0]
    longest, thin = 0, {"ms": 4, "alpha": 0.8}
    for place, (name, run) in enumerate(runs.items()):
        width = 1.4 + 1.2 * (len(runs) - place - 1)  # equal lines lie on each other
        line = look(place) | ({"color": GREY, "ls": "--"} if name == "nothing" else {"ls": "-"})
        for axes in left:
            steps = {m["step"]: m["value"] for m in run.measured(path)}
            axes.plot(sorted(steps), [steps[n] for n in sorted(steps)], **line, **thin, lw=width)
        losses = {epoch.number: epoch.train_loss.value for epoch in run.epochs if epoch.train_loss}
        points = list(losses), list(losses.values())
        right.plot(*points, **line, **thin, lw=width, label=name)
        longest = max(longest, len(losses))
    for axes in left:
        axes.set(xlabel="step", ylabel=AXES[path], xlim=(-0.2, None))
        if path == "spread":
            by_powers(axes)
    right.set(xlabel="epoch", ylabel="training loss", xticks=range(1, longest + 1))
    upper.legend(*right.get_legend_handles_labels(), loc="outside upper left", ncols=4)
    head = [names, *HEAD, *(each.replace("_", "\n", 1).replace("_", " ") for each in more)]
    rows = [[*row(name, run), *(fact(run, each) for each in more)] for name, run in runs.items()]
    columns = zip(head, *rows, strict=True)
    known = zip(*(each for each in columns if set(each[1:]) - UNKNOWN), strict=True)
    top, *others = map(list, known)
    table(below.subplots(), top, others)


def by_powers(axes: Any) -> None:
    """Draw spreads on logarithmic axes that include 0, so that the first steps are visible."""
    axes.set_xscale("symlog", linthresh=1)
    axes.set_yscale("symlog", linthresh=LOWEST)
    axes.set_ylim(-LOWEST / 2, 2)
    axes.set_yticks([0, 1e-6, 1e-4, 1e-2, 1], ["0", "1e-6", "1e-4", "0.01", "1"])
    axes.xaxis.set_major_formatter("{x:g}")


def fact(run: Run, name: str) -> str:
    """Return the measure with this name or, if there is none, the header's value for it."""
    found = [m["value"] for m in run.measured(name)]
    value = found[0] if found else run.header.get(name)
    return f"{value:.3g}" if isinstance(value, float) else "?" if value is None else f"{value:,}"


def row(name: str, run: Run) -> list[str]:
    last = run.epochs[-1] if run.epochs else None
    found = (last and last.train_loss, run.test_accuracy, last and last.seconds)
    loss, accuracy, seconds = (number.value if number else math.nan for number in found)
    spread, rate = (
        "?" if value is None or math.isnan(value) else f"{value:.4g}"
        for value in (run.end.param_spread, run.header.lr)
    )
    seen = f"{last.unique_samples or 0:,}" if last else "none"
    return [name, spread, f"{loss:.3f}", f"{accuracy:.3f}", rate, f"{seconds:.2f}", seen]
