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
    for column in range(len(head)) if any("\n" in words for words in head) else ():
        drawn[0, column].set_height(1.8 * drawn[0, column].get_height())


def canvas(figure: Any, width: float, height: float, *shape: int, **options: Any) -> Any:
    """Set the figure's size in inches, and return its axes, or an array of them."""
    figure.set_size_inches(width, height)
    return figure.subplots(*shape, **options)


def rows(axes: Any, labels: Sequence[str], **style: Any) -> None:
    """Give the axes labelled rows at 0, 1, 2 …, with the first on top."""
    axes.set_yticks(range(len(labels)), labels, **style)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.grid(False, axis="y")


def legend_beside(axes: Any) -> None:
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))


def look(place: int) -> dict[str, Any]:
    """Return the colour and the marker of the curve at this place."""
    return {"color": COLOURS[place % len(COLOURS)], "marker": MARKERS[place % len(MARKERS)]}


def by_two(
    axes: Any, counts: Sequence[int] | set[int], xlabel: str, ylabel: str, up: bool = False
) -> None:
    """Give the axes a logarithmic axis of counts, with a tick at each of them.

    up: the other axis is logarithmic, too.
    """
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter("{x:g}")
    if up:
        axes.set_yscale("log", base=2)
        axes.yaxis.set_major_formatter("{x:g}")
    axes.set(xlabel=xlabel, ylabel=ylabel, xticks=sorted(counts))
    axes.minorticks_off()


def with_whiskers(axes: Any, values: Mapping[Any, Measure], **style: Any) -> None:
    """Plot measures by count, each with its interval."""
    known = values.values()
    ends = [v.value - v.low for v in known], [v.high - v.value for v in known]
    axes.errorbar(list(values), [v.value for v in known], ends, capsize=3, **style)


def digits(value: float) -> str:
    """Return a number with three significant digits: 10.2, 3.00, 215."""
    return f"{value:#.3g}".rstrip(".")
