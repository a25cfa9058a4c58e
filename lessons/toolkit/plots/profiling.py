"""Plot where a step's milliseconds and megabytes go."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from autograder.records import Run
from lessons.toolkit.plots.figure import COLOURS, GREY, canvas, look, picture, rows
from lessons.toolkit.traces import COMMUNICATION, length_of

PARTS = ("input", "gradients", "update", "note")
KINDS = {  # words of an event's name -> what it is in the picture
    "part: ": "part",
    **dict.fromkeys(COMMUNICATION, "communication"),
    "DataLoader": "input",
    "Synchronize": "wait",  # the CPU waits for the GPU, as in aten::item
    "aten::item": "wait",
    "cudaLaunch": "launch",
    "cuLaunch": "launch",
    "dynamo": "compiling",
    "inductor": "compiling",
}
COLOURED = ("operation", "input", "wait", "communication", "compiling", "launch")


def parts_of(run: Run) -> dict[str, dict[str, float]]:
    """Return the median milliseconds of each part, by way. "other" is the rest of the step."""
    found: dict[str, dict[str, float]] = {}
    for way in ("before", "after"):
        if steps := run.measured("step_ms", way=way):
            parts = {part: median(step.get(f"{part}_ms", 0) for step in steps) for part in PARTS}
            other = median(step["value"] for step in steps) - sum(parts.values())
            found[way] = parts | {"other": max(other, 0.0)}
    return found


@picture
def step_bars(figure: Any, run: Run) -> None:
    """Plot the steps `before` and `after` as stacked bars, with the milliseconds of each part."""
    found = parts_of(run)
    axes = canvas(figure, 7.8, 2.8)
    longest = max((sum(parts.values()) for parts in found.values()), default=1.0)
    for row, parts in enumerate(found.values()):
        left = 0.0
        for part, ms, colour in zip(parts, parts.values(), (*COLOURS[:4], GREY), strict=True):
            axes.barh(row, ms, 0.6, left, color=colour, label="" if row else part)
            if ms > 0.06 * longest:
                axes.text(left + ms / 2, row, f"{ms:.1f}", ha="center", va="center", color="white")
            left += ms
        axes.text(left, row, f"  {left:.1f} ms", va="center", fontweight="bold")
    rows(axes, list(found))
    axes.set(xlabel="milliseconds of one step", xlim=(0, 1.15 * longest))
    figure.legend(loc="outside upper left", ncols=5)


@picture
def trace(figure: Any, traces: Mapping[str, Mapping[str, Any]]) -> None:
    """Plot traces one below the other: one row per lane, with parts above their operations."""
    heights = [len(each["lanes"]) + 0.6 for each in traces.values()]
    tall = 0.7 * sum(heights) + 0.1 * len(traces) + 0.8
    panels = canvas(figure, 9, tall, len(traces), squeeze=False, height_ratios=heights)[:, 0]
    colours = dict(zip(COLOURED, COLOURS, strict=True))
    for axes, (name, found) in zip(panels, traces.items(), strict=False):
        # One collection for all bars of a kind, because thousands of single bars take seconds.
        bars: dict[tuple[int, str], list[tuple[float, float]]] = {}
        for lane, number, start, duration in found["events"]:
            word = found["names"][number]
            kind = next((kind for words, kind in KINDS.items() if words in word), "operation")
            begin, ms = start / 1000, duration / 1000
            bars.setdefault((lane, kind), []).append((begin, ms))
            if kind == "part" and ms > length_of(found) / 20:
                word = word.removeprefix("part: ")
                axes.text(begin + ms / 2, lane - 0.3, word, ha="center", va="center", size=7)
        for (lane, kind), spans in bars.items():
            if kind == "part":
                axes.broken_barh(spans, (lane - 0.41, 0.22), fc="#DDDDDD", ec=GREY, lw=0.4)
            else:
                axes.broken_barh(spans, (lane - 0.175, 0.45), fc=colours[kind], ec="none")
        lanes = [each.replace("rank 0, thread 1", "rank 0") for each in found["lanes"]]
        rows(axes, lanes, fontsize=8)
        axes.set_xlim(0, length_of(found))
        axes.set_title(f"trace {name}", loc="left", fontsize=10)
        axes.grid(False)
    panels[-1].set_xlabel("milliseconds")
    patches = [panels[0].barh(0, 0, color=colour, label=kind) for kind, colour in colours.items()]
    figure.legend(handles=patches, loc="outside upper left", ncols=6)


@picture
def roofline(figure: Any, peak: float, bandwidth: float, points: Sequence[tuple]) -> None:
    """Plot the roof of a device. A point has a name, FLOP per byte, and FLOP/s."""
    axes = figure.subplots()
    ridge, top = peak / bandwidth, peak / 1e9
    axes.plot([0.05, ridge, 1000 * max(ridge, 1)], [0.05 * top / ridge, top, top], color=GREY, lw=2)
    for number, (name, intensity, rate) in enumerate(points):
        colour, allowed = look(number)["color"], min(top, intensity * top / ridge)
        axes.plot(intensity, rate / 1e9, "o", color=colour, label=name)
        axes.plot([intensity] * 2, [rate / 1e9, allowed], ":", color=colour, lw=1)
    axes.set(xscale="log", yscale="log", xlabel="FLOP per byte", ylabel="GFLOP/s")
    axes.set_ylim(top=4 * top)
    axes.text(ridge, 1.3 * top, f"peak {top:.0f} GFLOP/s", va="bottom")
    if points:
        axes.legend(loc="lower right")


PHASES = ("forward", "backward", "update")


@picture
def staircase(figure: Any, runs: Mapping[str, Run]) -> None:
    """Plot the megabytes of all tensors that are alive during one step of one rank.

    `runs` maps each way to its run; "ddp" is dashed. All phases are drawn with the same width, so
    corresponding moments line up.
    """
    axes = canvas(figure, 7.8, 4.4)
    colours = iter(COLOURS)
    for place, (way, run) in enumerate(runs.items()):
        width = 1.4 + 0.9 * (len(runs) - place - 1)  # equal lines lie on each other
        lines = {found["phase"]: found["line_kb"] for found in run.measured("staircase")}
        steps = [
            (number + place / len(lines[phase]), kb / 1e3)
            for number, phase in enumerate(PHASES)
            for place, kb in enumerate(lines.get(phase, []))
        ]
        style = {"color": GREY, "ls": "--"} if way == "ddp" else {"color": next(colours)}
        if steps:
            label = f"{way}: {max(y for _, y in steps):.1f} MB at most"
            x, y = zip(*steps, (3.0, steps[-1][1]), strict=True)
            axes.step(x, y, where="post", lw=width, label=label, **style)
    axes.set(xlim=(0, 3), ylim=(0, None), ylabel="MB alive on one rank")
    axes.set_xticks([0.5, 1.5, 2.5], PHASES)
    axes.grid(False, axis="x")
    axes.vlines((1, 2), 0, 1, color="#BBBBBB", lw=0.8, transform=axes.get_xaxis_transform())
    figure.legend(loc="outside upper left", ncols=3)
