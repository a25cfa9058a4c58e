"""Plot training across several lives of its job: one loss curve, and the work that was lost."""

from typing import Any

from autograder.records import Run
from lessons.toolkit.plots.figure import COLOURS, GREY, picture

ENDS = {"kill": "killed", "warning": "warned", "end": "complete"}


@picture
def lives(figure: Any, run: Run, beside: Run | None = None) -> None:
    """Plot the loss of each training step, with one colour for each life of the run.

    Hatched steps are repeated by a later life. `beside` is the same training run without accidents.
    """
    figure.set_size_inches(8.4, 4.4)
    axes = figure.subplots()
    for other in beside.measured("life") if beside else []:
        axes.plot(*curve(other.facts), color=GREY, lw=5, alpha=0.25, label="without accidents")
    found = sorted((life.facts for life in run.measured("life")), key=lambda life: life["life"])
    top = 0.98
    known: dict[int, float] = {}  # the loss of each step so far
    for place, life in enumerate(found):
        colour = COLOURS[place % len(COLOURS)]
        end = ENDS.get(life["ended"], life["ended"])
        label = f"life {place + 1}: {end} after step {life['last']}"
        x, y = curve(life)
        if life["first"] in known:  # begin where the earlier life was saved
            x, y = [life["first"], *x], [known[life["first"]], *y]
        axes.plot(x, y, color=colour, lw=1.8, label=label)
        known |= dict(zip(x, y, strict=True))
        if life["lost"]:
            begin = life["last"] - life["lost"]
            axes.axvspan(begin, life["last"], facecolor="none", edgecolor=colour, hatch="///", lw=0)
            words = f"{life['lost']} lost"
            axes.text(
                (begin + life["last"]) / 2, top, words, ha="center", va="top", color=colour,
                transform=axes.get_xaxis_transform(), backgroundcolor="white", fontsize=10,
            )  # fmt: skip
        if life["ended"] != "end":
            axes.axvline(life["last"], color=colour, lw=1.2, ls=":")
    axes.set(xlabel="step", ylabel="training loss", xlim=(0, None))
    axes.grid(axis="x", visible=False)
    figure.legend(*axes.get_legend_handles_labels(), loc="outside upper left", ncols=3)


def curve(life: Any) -> tuple[list[int], list[float]]:
    """Return the numbers of the steps, and the loss of each."""
    losses = list(life["losses"])
    first, every = life["first"] + 1, life.get("every", 1)
    return list(range(first, first + every * len(losses), every)), losses
