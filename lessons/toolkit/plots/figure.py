"""Provide what all pictures share: colours, style, an empty figure, a table of numbers."""

import io
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any

from autograder.measuring.interval import Measure

# Okabe and Ito's colours, which colour-blind readers can tell apart.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MARKERS = "osD^vP"
GREY = "#595959"
STYLE: Any = {
    "font.size": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E0E0E0",
    "hatch.linewidth": 0.8,
    "legend.frameon": False,
    "figure.dpi": 100,
}


def picture(draw: Callable[..., None]) -> Callable[..., Any]:
    """Turn a function that draws on a figure into one that returns a new figure.

    `save="my_picture.png"` also saves it in a file.
    """

    @wraps(draw)
    def drawn(*data: Any, save: str | None = None, **options: Any) -> Any:
        import matplotlib
        from matplotlib.figure import Figure

        class Picture(Figure):  # without pyplot, which would show the figure a second time
            def _repr_png_(self) -> bytes:
                png = io.BytesIO()
                self.savefig(png, format="png")
                return png.getvalue()

        with matplotlib.rc_context(STYLE):
            figure = Picture(figsize=(7.2, 4), layout="constrained", facecolor="white")
            draw(figure, *data, **options)
            if save:
                figure.savefig(save)
        return figure

    return drawn


def table(axes: Any, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    axes.set_axis_off()
    drawn = axes.table(rows, colLabels=head, cellLoc="center", loc="center", edges="horizontal")
    drawn.auto_set_font_size(False)
    drawn.set_fontsize(11)
    drawn.scale(1, 1.4)
    if any("\n" in words for words in head):
        for column in range(len(head)):
            drawn[0, column].set_height(1.8 * drawn[0, column].get_height())


def look(place: int) -> dict[str, Any]:
    """Return the colour and the marker of the curve at this place."""
    return {"color": COLOURS[place % len(COLOURS)], "marker": MARKERS[place % len(MARKERS)]}


def by_two(axes: Any, counts: Sequence[int] | set[int], xlabel: str, ylabel: str) -> None:
    """Give the axes a logarithmic axis of counts, with a tick at each of them."""
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set(xlabel=xlabel, ylabel=ylabel, xticks=sorted(counts))
    axes.minorticks_off()


def with_whiskers(axes: Any, values: Mapping[Any, Measure], **style: Any) -> None:
    """Plot measures by count, each with its interval."""
    middle = [value.value for value in values.values()]
    ends = [
        [value.value - value.low for value in values.values()],
        [value.high - value.value for value in values.values()],
    ]
    axes.errorbar(list(values), middle, ends, capsize=3, **style)


def digits(value: float) -> str:
    """Return a number with three significant digits: 10.2, 3.00, 215."""
    return f"{value:#.3g}".rstrip(".")
