"""Plot a scaling study and its forecast, as `autograder foretell` does."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from autograder.foretell import report, table
from autograder.foretell.picture import draw
from lessons.toolkit.plots import figure as style


@style.picture
def foretold(
    figure: Any,
    study: str | Path | Mapping[int, Sequence[float]],
    at: Sequence[int] = (),
    column: str = "seconds",
    scaling: str = "strong",
    per_node: int | None = None,
) -> None:
    """Plot speedup with the ideal, the fitted laws, and the predicted intervals, also as a list.

    study: a CSV file as in docs/foretell.md, or {workers: values, one per repeat} and the `column`
    that the values belong to. at: the sizes to predict; by default 2, 4 and 8 times the last size.
    """
    if isinstance(study, Mapping):
        found = table.of_values(study, column, scaling, per_node)
    else:
        found = table.read(Path(study), scaling, per_node)
    sizes = sorted(at) or report.usual_sizes(found)
    figure.set_size_inches(7.2, 4.6 + 0.28 * len(sizes))
    axes, below = figure.subplots(2, 1, height_ratios=[4, 0.4 + 0.3 * len(sizes)])
    draw(axes, found, sizes)
    head = ["workers", found.column, "speedup", "efficiency"]
    rows = [
        [
            f"{line.size:,}",
            report.span(*line.value),
            report.span(*line.speedup),
            f"{100 * line.efficiency[0]:.0f} to {100 * line.efficiency[1]:.0f} %",
        ]
        for line in report.lines(found, sizes)
    ]
    style.table(below, head, rows)
