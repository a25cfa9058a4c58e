"""Provide what all pictures share: colours, style, an empty figure, a table of numbers."""

import io
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

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


def digits(value: float) -> str:
    """Return a number with three significant digits: 10.2, 3.00, 215."""
    return f"{value:#.3g}".rstrip(".")


def card(figure: Any, number: str, what: str, facts: Sequence[str]) -> Any:
    """Write one large number with its facts below it. Return the axes beside it."""
    figure.set_size_inches(7.2, 3)
    left, axes = figure.subplots(1, 2, width_ratios=[1.4, 1])
    left.set_axis_off()
    left.text(0, 0.73, number, fontsize=40, weight="bold", color=COLOURS[0], va="center")
    left.text(0, 0.49, what, fontsize=13, va="center")
    left.text(0, 0.31, "\n".join(fact for fact in facts if fact), va="top", color=GREY)
    return axes
