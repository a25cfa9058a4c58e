"""The picture of a scaling study with what it says of larger sizes; `cluster foretell` draws it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cluster.foretell import answer, report, table
from cluster.foretell.picture import draw
from lessons.toolkit.plots import figure as style


@style.picture
def foretold(
    figure: Any,
    study: str | Path | Mapping[int, Sequence[float]],
    at: Sequence[int] = (),
    what: str = "seconds",
    scaling: str | None = None,
    per_node: int | None = None,
) -> None:
    """Speedup with the ideal, the laws and the shaded interval of larger sizes, which stands below.

    study: the file of a table (docs/foretell.md), or {workers: values, one for each repeat} and
    `what` they are: seconds, images/s, images/s per worker. at: sizes; else 2, 4, 8 × the last.
    """
    asked = table.Asked(scaling=scaling, node=per_node)
    if isinstance(study, Mapping):
        found = table.of_values(study, what, asked)
    else:
        found = table.read(Path(study), asked)
    sizes = sorted(at) or answer.usual_sizes(found)
    figure.set_size_inches(7.2, 4.6 + 0.28 * len(sizes))
    axes, below = figure.subplots(2, 1, height_ratios=[4, 0.4 + 0.3 * len(sizes)])
    draw(axes, found, sizes)
    head = [found.of, report.unit(found), "speedup", "efficiency"]
    rows = [
        [
            f"{line.size:,}",
            report.span(*line.value),
            report.span(*line.speedup),
            f"{100 * line.efficiency[0]:.0f} to {100 * line.efficiency[1]:.0f} %",
        ]
        for line in answer.lines(found, sizes)
    ]
    style.table(below, head, rows)
