"""Plot schedules of a pipeline: from the stages' orders alone, and as measured."""

import statistics
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

from autograder.records import MeasureEvent, Run
from lessons.toolkit.plots.figure import COLOURS, GREY, by_two, canvas, picture, rows
from lessons.toolkit.ranks.schedules import Box, Orders, bubble, held, timed

KINDS = {  # of work: its name, and the colours of piece 0 and of all others
    "F": ("forward", (COLOURS[0], COLOURS[5])),
    "B": ("backward", (COLOURS[1], COLOURS[4])),
}


@picture
def drawn_schedules(figure: Any, schedules: Mapping[str, Orders]) -> None:
    """Plot a row for each stage, with a box for each pass and the number of its micro-batch."""
    drawn, titles = {name: timed(orders) for name, orders in schedules.items()}, {}
    for name, boxes in drawn.items():
        most = " / ".join(f"{each:g}" for each in held(schedules[name]))
        end, idle = max(box.end for box in boxes), bubble(boxes)
        titles[name] = f"{end:g} units of time, {idle:.0%} of it bubble; held at most {most}"
    axes = draw_passes(figure, drawn, titles, "stage", 9.5)
    axes.set_xlabel("time units; a stage's forward pass takes 1, its backward pass 2")


@picture
def measured_stages(figure: Any, run: Run) -> None:
    """Plot a row per rank, with a bar for each measured pass and its micro-batch's number."""
    drawn, titles = {}, {}
    for name in ("gpipe", "1f1b"):
        drawn[name] = [box for r in run.measured("busy", schedule=name) for box in passes_of(r)]
        [idle] = [m["value"] for m in run.measured("bubble", schedule=name)] or [float("nan")]
        most = " / ".join(f"{m['value']:g}" for m in run.measured("held", schedule=name))
        titles[name] = f"idle {idle:.0%}; micro-batches held at most {most}"
    axes = draw_passes(figure, drawn, titles, "rank", 8.5)
    axes.set_xlabel("milliseconds since the step began, by rank 0's clock")


def passes_of(rank: MeasureEvent) -> list[Box]:
    numbers = {kind: count() for kind in KINDS}
    passes = zip(rank["kinds"], rank["starts"], rank["ends"], strict=True)
    return [Box(rank["of_rank"], k, next(numbers[k]), 0, start, end) for k, start, end in passes]


def draw_passes(
    figure: Any,
    drawn: Mapping[str, Sequence[Box]],
    titles: Mapping[str, str],
    row: str,
    wide: float,
) -> Any:
    """Draw each schedule's boxes on axes of their own, and return the lowest axes."""
    heights = [1 + max((box.stage for box in boxes), default=0) for boxes in drawn.values()]
    tall = 0.9 + 0.85 * len(drawn) + 0.26 * sum(heights)
    options = {"sharex": True, "squeeze": False, "height_ratios": heights}
    panels = canvas(figure, wide, tall, len(drawn), **options)[:, 0]
    every = [box for boxes in drawn.values() for box in boxes]
    until = max((box.end for box in every), default=1.0)
    for axes, (name, boxes), height in zip(panels, drawn.items(), heights, strict=True):
        for box in boxes:
            lasts, colour = box.end - box.start, KINDS[box.kind][1][min(box.piece, 1)]
            axes.barh(box.stage, lasts, 0.9, box.start, color=colour, ec="white", lw=0.6)
            if lasts > 0.01 * until:
                ink = {"c": "black" if box.piece else "white", "size": min(9, 480 * lasts / until)}
                middle = (box.start + box.end) / 2
                axes.text(middle, box.stage, box.micro_batch, ha="center", va="center", **ink)
        axes.set_title(f"{name}: {titles[name]}", loc="left", fontsize=10)
        rows(axes, [f"{row} {number}" for number in range(height)])
        axes.set_xlim(0, until)
        axes.grid(False)
    pieces = 1 + max((box.piece for box in every), default=0)
    for label, colours in KINDS.values():
        for words, colour in zip(("", ", second piece"), colours[:pieces], strict=False):
            panels[0].barh(0, 0, color=colour, label=label + words)
    figure.legend(loc="outside upper left", ncols=4, labelcolor=GREY)
    return axes


@picture
def step_times(figure: Any, run: Run, predicted: float) -> None:
    """Plot seconds per step against the number of micro-batches, per round and as medians.

    The lines show the time of one process, and the time if the pipeline bubble were the only
    overhead.
    """
    rounds = run.measured("pipeline_round")
    tried = sorted(int(m) for m in rounds[0]["together_s"])
    stages = int(run.header.get("stages") or 2)
    axes = figure.subplots()
    alone = statistics.median(one["alone_s"] for one in rounds)
    for one in rounds:
        times = [1e3 * one["together_s"][str(m)] for m in tried]
        axes.plot(tried, times, "o", color=COLOURS[0], alpha=0.35, ms=4, mew=0)
    medians = [1e3 * statistics.median(o["together_s"][str(m)] for o in rounds) for m in tried]
    axes.plot(tried, medians, "o-", color=COLOURS[0], ms=7, label=f"{stages} stages, median")
    axes.axhline(1e3 * alone, color=GREY, lw=1.2, label=f"one process: {1e3 * alone:.0f} ms")
    ideal = [1e3 * alone / stages * (m + stages - 1) / m for m in tried]
    axes.plot(tried, ideal, "--", color="black", lw=1.2, label="one process / stages, and bubble")
    axes.plot(4, predicted * 1e3 * alone, "*", color=COLOURS[1], ms=13, label="you said")
    best, at = min(zip(medians, tried, strict=True))
    axes.text(at, 1.06 * best, f"{best:.0f} ms", ha="center", color=COLOURS[0])
    by_two(axes, tried, "micro-batches of a batch", "a step in ms")
    axes.set_ylim(0, 2 * max(*medians, 1e3 * alone))  # a round may have taken far longer
    figure.legend(loc="outside lower center", ncols=2)


@picture
def bytes_by_batch(figure: Any, run: Run, copies: float, per_image: float) -> None:
    """Plot what a rank receives per step by the size of the batch, computed and counted.

    copies: bytes per step of a network that is copied. per_image: bytes per image of cut layers.
    """
    counted = [step for step in run.measured("step_s") if step.get("bytes")]
    axes = figure.subplots()
    cross = copies / per_image
    batches = [cross / 16, *(step["batch"] for step in counted), cross * 4]
    ends = [min(batches), max(batches)]
    cut = [per_image * batch for batch in ends]
    ways = [("data", "copies", [copies] * 2), ("tensor", "cut layers", cut)]
    for (way, name, line), colour in zip(ways, COLOURS, strict=False):
        axes.plot(ends, [size / 1e6 for size in line], color=colour, label=f"{name}, computed")
        dots = [(step["batch"], step["bytes"] / 1e6) for step in counted if step["way"] == way]
        if dots:
            axes.plot(*zip(*dots, strict=True), "o", color=colour, label=f"{name}, counted")
    axes.axvline(cross, color=GREY, lw=0.8, ls=":")
    axes.text(1.05 * cross, 0.8 * copies / 1e6, f"{cross:.0f} images")
    axes.set_xscale("log", base=2)
    axes.set(yscale="log", xlabel="images per batch", ylabel="MB that a rank receives per step")
    axes.legend()
