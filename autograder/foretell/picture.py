"""Plot speedup against size.

Points are runs, the dashed line is ideal, thin lines are the laws, and predictions are shaded.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from autograder.foretell.answer import drawn_sizes, lines, measured_speedups, usual_sizes
from autograder.foretell.table import Table

BLUE, ORANGE, GREY, PALE = "#0072B2", "#D55E00", "#595959", "#E0E0E0"


def draw(axes: Any, table: Table, asked: Sequence[int] = ()) -> None:
    """Plot the table and its predictions on `axes`, up to the largest requested size."""
    study = table.study
    asked = asked or usual_sizes(table)
    answers = lines(table, drawn_sizes(table, asked))
    sizes = [line.size for line in answers]
    first, last = study.sizes[0], study.sizes[-1]
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
    axes.plot(
        *zip(*measured_speedups(table), strict=True), "o", color=BLUE, alpha=0.8, label="measured"
    )
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
