"""Plot speedup against size.

Points are runs, the dashed line is ideal, thin lines are the laws, and predictions are shaded.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from autograder.foretell.report import lines, usual_sizes
from autograder.foretell.table import Table

BLUE, ORANGE, GREY, PALE = "#0072B2", "#D55E00", "#595959", "#E0E0E0"


def draw(axes: Any, table: Table, asked: Sequence[int] = ()) -> None:
    """Plot the table and its predictions on `axes`, up to the largest requested size."""
    asked = asked or usual_sizes(table)
    first, last = table.study.sizes[0], table.study.sizes[-1]
    spaced = np.geomspace(first, max(*asked, last), 40)  # evenly spaced on a logarithmic axis
    answers = lines(table, sorted({*map(round, spaced), *asked}))
    sizes = [line.size for line in answers]
    axes.plot(sizes, [n / first for n in sizes], "--", color=GREY, label="ideal")
    for place, law in enumerate(answers[0].foretold.laws):
        if not law.describes or law.fit.form.is_step:
            continue
        line = [each.foretold.laws[place].best for each in answers]
        label = "laws that describe the data" if not axes.lines[1:] else None
        axes.plot(sizes, line, color=BLUE, lw=0.7, alpha=0.6, label=label)
    beyond = [line for line in answers if line.size >= last]
    axes.fill_between(
        [line.size for line in beyond],
        [line.speedup[0] for line in beyond],
        [line.speedup[1] for line in beyond],
        color=ORANGE, alpha=0.25, lw=0, label="foretold",
    )  # fmt: skip
    axes.axvline(last, color=GREY, lw=0.8, ls=":")
    same = [table.value_at(size, 1) / value for size, value in table.points]
    gains = same if table.column == "seconds" else [1 / gain for gain in same]
    measured = [size for size, _ in table.points]
    axes.plot(measured, gains, "o", color=BLUE, alpha=0.8, label="measured")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter("{x:g}")
    axes.set(xlabel="workers", ylabel=f"speedup over {first:,}")
    axes.legend(loc="upper left", frameon=False)


def save(file: Path, table: Table, asked: Sequence[int]) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.8), layout="constrained", dpi=120)
    axes = figure.add_subplot()
    draw(axes, table, asked)
    axes.grid(color=PALE)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(file)
