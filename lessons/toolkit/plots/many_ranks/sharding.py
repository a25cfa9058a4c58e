"""Plot the memory in use during a step as a staircase, with one line per way to hold the state."""

from collections.abc import Mapping
from typing import Any

from autograder.records import Run
from lessons.toolkit.plots.figure import COLOURS, GREY, picture

PHASES = ("forward", "backward", "update")
BY_HAND = ("zero1", "zero2", "zero3")


@picture
def staircase(figure: Any, runs: Mapping[str, Run], beside: str = "ddp") -> None:
    """Plot the megabytes of all tensors that are alive during one step of one rank.

    `runs` maps each way to its run. All phases are drawn with the same width, so corresponding
    moments line up. The left panel shows ZeRO by hand, the right panel shows the other ways, and
    both show the run named by `beside`.
    """
    left = [way for way in runs if way in BY_HAND]
    right = [way for way in runs if way not in (*BY_HAND, beside)]
    groups = [group for group in (left, right) if group]
    figure.set_size_inches(4.6 * max(len(groups), 1) + 0.6, 4)
    panels = figure.subplots(1, max(len(groups), 1), sharey=True, squeeze=False)[0]
    colours = dict(zip([*left, *right], COLOURS, strict=False))
    for axes, group in zip(panels, groups, strict=False):
        for way in (beside, *group):
            if way in runs:
                look = {"color": GREY, "ls": "--"} if way == beside else {"color": colours[way]}
                draw(axes, runs[way], way, look)
        axes.set(xlim=(0, 3), ylim=(0, None), xticks=[0.5, 1.5, 2.5])
        axes.set_xticklabels(PHASES)
        axes.tick_params(axis="x", length=0)
        axes.grid(axis="x", visible=False)
        for border in (1, 2):
            axes.axvline(border, color="#BBBBBB", lw=0.8)
    panels[0].set_ylabel("MB alive on one rank")
    lines = {line.get_label(): line for axes in panels for line in axes.get_lines()}
    named = {label: line for label, line in lines.items() if not label.startswith("_")}
    figure.legend(named.values(), named.keys(), loc="outside upper left", ncols=3)


def draw(axes: Any, run: Run, way: str, look: dict[str, Any]) -> None:
    lines = {found["phase"]: found["line_kb"] for found in run.measured("staircase")}
    x: list[float] = []
    y: list[float] = []
    for number, phase in enumerate(PHASES):
        line = lines.get(phase, [])
        x += [number + place / len(line) for place in range(len(line))]
        y += [much / 1e3 for much in line]
    if y:
        label = f"{way}: {max(y):.1f} MB at most"
        axes.step([*x, 3.0], [*y, y[-1]], where="post", lw=1.6, label=label, **look)
