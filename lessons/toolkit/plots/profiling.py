"""Plot where a step's milliseconds and megabytes go."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from autograder.records import Run
from lessons.toolkit.plots.figure import COLOURS, GREY, picture
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
        steps = run.measured("step_ms", way=way)
        if not steps:
            continue
        parts = {part: median(float(step.get(f"{part}_ms", 0)) for step in steps) for part in PARTS}
        whole = median(float(step["value"]) for step in steps)
        found[way] = parts | {"other": max(whole - sum(parts.values()), 0.0)}
    return found


@picture
def step_bars(figure: Any, run: Run) -> None:
    """Plot the steps `before` and `after` as stacked bars, with the milliseconds of each part."""
    found = parts_of(run)
    figure.set_size_inches(7.8, 2.8)
    axes = figure.subplots()
    for row, (_, parts) in enumerate(found.items()):
        left = 0.0
        for number, (part, ms) in enumerate(parts.items()):
            colour = GREY if part == "other" else COLOURS[number]
            axes.barh(row, ms, left=left, color=colour, height=0.6, label="" if row else part)
            if ms > 0.06 * sum(found["before"].values()):
                axes.text(left + ms / 2, row, f"{ms:.1f}", ha="center", va="center", color="white")
            left += ms
        axes.text(left, row, f"  {left:.1f} ms", va="center", fontweight="bold")
    longest = max((sum(parts.values()) for parts in found.values()), default=1.0)
    axes.set(xlabel="milliseconds of one step", xlim=(0, 1.15 * longest), yticks=range(len(found)))
    axes.set_yticklabels(found)
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    if found:
        figure.legend(loc="outside upper left", ncols=5)


@picture
def trace(figure: Any, traces: Mapping[str, Mapping[str, Any]]) -> None:
    """Plot traces one below the other: one row per lane, with parts above their operations."""
    rows = sum(len(each["lanes"]) for each in traces.values())
    figure.set_size_inches(9, 0.7 * rows + 0.5 * len(traces) + 0.8)
    heights = [len(each["lanes"]) + 0.6 for each in traces.values()]
    panels = figure.subplots(max(len(traces), 1), 1, squeeze=False, height_ratios=heights)[:, 0]
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
        axes.set(yticks=range(len(lanes)), xlim=(0, length_of(found)))
        axes.set_title(f"trace {name}", loc="left", fontsize=10)
        axes.set_yticklabels(lanes, fontsize=8)
        axes.invert_yaxis()
        axes.grid(visible=False)
    panels[-1].set_xlabel("milliseconds")
    patches = [panels[0].barh(0, 0, color=colour, label=kind) for kind, colour in colours.items()]
    figure.legend(handles=patches, loc="outside upper left", ncols=6)


@picture
def roofline(figure: Any, peak: float, bandwidth: float, points: Sequence[tuple]) -> None:
    """Plot the roof of a device. A point has a name, FLOP per byte, and FLOP/s."""
    axes = figure.subplots()
    ridge = peak / bandwidth
    ends = [0.05, ridge, 1000 * max(ridge, 1)]
    roof = [min(peak, each * bandwidth) / 1e9 for each in ends]
    axes.plot(ends, roof, color=GREY, lw=2)
    for number, (name, intensity, rate) in enumerate(points):
        colour = COLOURS[number % len(COLOURS)]
        axes.plot(intensity, rate / 1e9, "o", color=colour, label=name)
        allowed = min(peak, intensity * bandwidth)
        axes.plot([intensity] * 2, [rate / 1e9, allowed / 1e9], ":", color=colour, lw=1)
    axes.set(xscale="log", yscale="log", xlabel="FLOP per byte", ylabel="GFLOP/s")
    axes.set_ylim(top=4 * peak / 1e9)
    axes.text(ridge, 1.3 * peak / 1e9, f"peak {peak / 1e9:.0f} GFLOP/s", va="bottom")
    if points:
        axes.legend(loc="lower right")


PHASES = ("forward", "backward", "update")


@picture
def staircase(figure: Any, runs: Mapping[str, Run], beside: str = "ddp") -> None:
    """Plot the megabytes of all tensors that are alive during one step of one rank.

    `runs` maps each way to its run; the one named by `beside` is dashed. All phases are drawn with
    the same width, so corresponding moments line up.
    """
    figure.set_size_inches(7.8, 4.4)
    axes = figure.subplots()
    colours = dict(zip([way for way in runs if way != beside], COLOURS, strict=False))
    for place, (way, run) in enumerate(runs.items()):
        width = 1.4 + 0.9 * (len(runs) - place - 1)  # equal lines lie on each other
        lines = {found["phase"]: found["line_kb"] for found in run.measured("staircase")}
        x: list[float] = []
        y: list[float] = []
        for number, phase in enumerate(PHASES):
            line = lines.get(phase, [])
            x += [number + place / len(line) for place in range(len(line))]
            y += [much / 1e3 for much in line]
        if y:
            look = {"color": colours.get(way, GREY), "ls": "--" if way == beside else "-"}
            label = f"{way}: {max(y):.1f} MB at most"
            axes.step([*x, 3.0], [*y, y[-1]], where="post", lw=width, label=label, **look)
    axes.set(xlim=(0, 3), ylim=(0, None), xticks=[0.5, 1.5, 2.5], ylabel="MB alive on one rank")
    axes.set_xticklabels(PHASES)
    axes.grid(axis="x", visible=False)
    for border in (1, 2):
        axes.axvline(border, color="#BBBBBB", lw=0.8)
    figure.legend(loc="outside upper left", ncols=3)


@picture
def hiding(figure: Any, runs: Mapping[str, Run]) -> None:
    """Plot a step's time against the bandwidth into a node, assuming that messages overlap.

    `runs` maps each way to its run, which measured `compute_s` and `node_mb`.
    """
    axes = figure.subplots()
    for place, (way, run) in enumerate(runs.items()):
        found = {each["name"]: each["value"] for each in run.measures}
        bend = found["node_mb"] / found["compute_s"]
        speeds = [bend / 8, bend, 1500]
        seconds = [max(found["compute_s"], found["node_mb"] / speed) for speed in speeds]
        axes.plot(speeds, seconds, color=COLOURS[place], lw=2, label=way)
    for gigabits in (0.1, 1, 10):
        axes.axvline(125 * gigabits, color=GREY, ls=":", lw=1)
        words = {"transform": axes.get_xaxis_transform(), "ha": "right", "va": "top"}
        axes.text(125 * gigabits, 1, f"{gigabits:g} Gbit/s", **words)
    axes.set(xscale="log", yscale="log", xlabel="MB/s into a node", ylabel="seconds per step")
    figure.legend(loc="outside upper left", ncols=2)
