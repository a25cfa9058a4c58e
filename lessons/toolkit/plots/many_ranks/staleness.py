"""A picture of lesson 16: the age of the parameters that gradients were computed from."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from autograder.records import Run
from lessons.toolkit.plots.figure import COLOURS, GREY, picture


@picture
def staleness(figure: Any, rows: Mapping[str, Run | Iterable[int]]) -> None:
    """Plot a histogram for each row, with its mean dashed.

    A row is a measured run, or the staleness of each update in a simulation.
    """
    counted = {name: staleness_of(row) for name, row in rows.items()}
    most = max((late for each in counted.values() for late in each), default=0)
    figure.set_size_inches(7.2, 1.0 + 1.45 * len(counted))
    panels = figure.subplots(len(counted), 1, sharex=True, squeeze=False)[:, 0]
    for place, (axes, (name, counts)) in enumerate(zip(panels, counted.items(), strict=True)):
        total = sum(counts.values())
        mean = sum(late * count for late, count in counts.items()) / max(total, 1)
        shares = [100 * counts[late] / max(total, 1) for late in range(most + 1)]
        axes.bar(range(most + 1), shares, color=COLOURS[place % len(COLOURS)], width=0.8)
        axes.axvline(mean, color=GREY, ls="--")
        axes.set_title(f"{name}: {mean:.2f} on average over {total:,} updates", loc="left")
        axes.set_ylabel("updates in %")
        axes.set_ylim(0, max(105.0, 1.05 * max(shares)))
        axes.grid(False, axis="x")
    if most < 25:
        panels[-1].set_xticks(range(most + 1))
    panels[-1].set_xlabel(
        "staleness: updates between reading the parameters and applying the gradient"
    )


def staleness_of(row: Run | Iterable[int]) -> Counter[int]:
    """Count the updates by staleness, from a run's record or from a list."""
    if not isinstance(row, Run):
        return Counter(int(late) for late in row)
    told = row.measured("staleness")
    if not told:
        raise ValueError("The run has no staleness: it is not a run of train_ps.py.")
    return Counter({int(m["late"]): int(m["value"]) for m in told})
