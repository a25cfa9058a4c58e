"""Plot schedules of a pipeline: from the stages' orders alone, and as measured."""

import statistics
from collections.abc import Mapping
from typing import Any

from autograder.records import Run
from lessons.toolkit.plots.figure import COLOURS, GREY, by_two, picture
from lessons.toolkit.ranks import schedules as simulated
from lessons.toolkit.ranks.schedules import Orders, bubble, held, timed

FORWARD = (COLOURS[0], COLOURS[5])  # colours of piece 0 and of all others
BACKWARD = (COLOURS[1], COLOURS[4])


@picture
def drawn_schedules(
    figure: Any,
    schedules: Mapping[str, Orders],
    forward: float = 1.0,
    backward: float = 2.0,
    interleaved: int = 0,
) -> None:
    """Plot a row for each stage, with a box for each pass and the number of its micro-batch.

    interleaved: also draw an interleaved schedule, in which each stage has so many pieces.
    """
    if interleaved:
        orders = next(iter(schedules.values()))
        added = simulated.interleaved(len(orders), len(orders[0]) // 2, interleaved)
        schedules = {**schedules, "interleaved": added}
    rows = sum(len(orders) for orders in schedules.values())
    figure.set_size_inches(9.5, 0.9 + 0.85 * len(schedules) + 0.26 * rows)
    heights = [len(orders) for orders in schedules.values()]
    found = figure.subplots(len(schedules), sharex=True, squeeze=False, height_ratios=heights)
    drawn = {name: timed(orders, forward, backward) for name, orders in schedules.items()}
    until = max(box.end for boxes in drawn.values() for box in boxes)
    small = min(box.end - box.start for boxes in drawn.values() for box in boxes)
    size = min(9.0, max(4.0, 480 * small / until))
    for axes, (name, orders) in zip(found[:, 0], schedules.items(), strict=True):
        for box in drawn[name]:
            colour = (FORWARD if box.kind == "F" else BACKWARD)[min(box.piece, 1)]
            place = ((box.start, box.end - box.start),)
            axes.broken_barh(place, (box.stage - 0.45, 0.9), color=colour, ec="white", lw=0.6)
            middle = (box.start + box.end) / 2
            ink = "white" if box.piece == 0 else "black"
            axes.text(
                middle, box.stage, box.micro_batch, ha="center", va="center", c=ink, size=size
            )
        most = " / ".join(f"{count:g}" for count in held(orders))
        idle, end = bubble(drawn[name]), max(box.end for box in drawn[name])
        title = f"{name}: {end:g} units of time, {idle:.0%} of it bubble; held at most {most}"
        axes.set_title(title, loc="left", fontsize=10)
        axes.set_yticks(range(len(orders)), [f"stage {stage}" for stage in range(len(orders))])
        axes.set(ylim=(len(orders) - 0.5, -0.5), xlim=(0, until))
        axes.grid(False)
    found[-1, 0].set_xlabel(
        f"time units; a stage's forward pass takes {forward:g}, its backward pass {backward:g}"
    )
    pieces = 1 + max(box.piece for boxes in drawn.values() for box in boxes)
    for label, colours in {"forward": FORWARD, "backward": BACKWARD}.items():
        for piece, colour in zip(("", ", second piece"), colours[:pieces], strict=False):
            found[0, 0].barh(0, 0, color=colour, label=f"{label}{piece}")
    figure.legend(loc="outside upper left", ncols=4, labelcolor=GREY)


SCHEDULES = ("gpipe", "1f1b")
LOOKS = {"F": (COLOURS[0], "forward"), "B": (COLOURS[1], "backward")}


@picture
def measured_stages(figure: Any, run: Run) -> None:
    """Plot a row per rank, with a bar for each measured pass and its micro-batch's number."""
    drawn = {kind: run.measured("busy", schedule=kind) for kind in SCHEDULES}
    rows = max(len(ranks) for ranks in drawn.values())
    figure.set_size_inches(8.5, 1.1 + len(SCHEDULES) * (0.6 + 0.4 * rows))
    found = figure.subplots(len(SCHEDULES), sharex=True, squeeze=False)[:, 0]
    until = max((end for ranks in drawn.values() for r in ranks for end in r["ends"]), default=1)
    for axes, (kind, ranks) in zip(found, drawn.items(), strict=True):
        for rank in ranks:
            numbers = {"F": 0, "B": 0}
            for pass_, start, end in zip(rank["kinds"], rank["starts"], rank["ends"], strict=True):
                bar = (rank["of_rank"] - 0.4, 0.8)
                axes.broken_barh([(start, end - start)], bar, color=LOOKS[pass_][0], ec="white")
                if end - start > 0.02 * until:
                    middle = (start + end) / 2
                    number = str(numbers[pass_])
                    axes.text(middle, rank["of_rank"], number, ha="center", va="center", c="white")
                numbers[pass_] += 1
        [idle] = [m["value"] for m in run.measured("bubble", schedule=kind)] or [float("nan")]
        held = " / ".join(f"{m['value']:g}" for m in run.measured("held", schedule=kind))
        title = f"{kind}: idle {idle:.0%}; micro-batches held at most {held}"
        axes.set_title(title, loc="left", fontsize=10)
        axes.set_yticks(range(len(ranks)), [f"rank {r['of_rank']}" for r in ranks])
        axes.set(ylim=(len(ranks) - 0.5, -0.5), xlim=(0, until))
        axes.grid(False)
    found[-1].set_xlabel("milliseconds since the step began, by rank 0's clock")
    for colour, label in LOOKS.values():
        found[0].barh(0, 0, color=colour, label=label)
    figure.legend(loc="outside upper right", ncols=2, labelcolor=GREY)


@picture
def step_times(figure: Any, run: Run, predicted: float | None = None) -> None:
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
    if predicted is not None:
        axes.plot(4, predicted * 1e3 * alone, "*", color=COLOURS[1], ms=13, label="you said")
    best = min(range(len(tried)), key=medians.__getitem__)
    note = f"{medians[best]:.0f} ms"
    axes.text(tried[best], 1.06 * medians[best], note, ha="center", color=COLOURS[0])
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
    ways = {"data": [copies] * 2, "tensor": [per_image * batch for batch in ends]}
    for (way, line), colour, name in zip(
        ways.items(), COLOURS, ("copies", "cut layers"), strict=False
    ):
        axes.plot(ends, [size / 1e6 for size in line], color=colour, label=f"{name}, computed")
        dots = [(step["batch"], step["bytes"] / 1e6) for step in counted if step["way"] == way]
        if dots:
            axes.plot(*zip(*dots, strict=True), "o", color=colour, label=f"{name}, counted")
    axes.axvline(cross, color=GREY, lw=0.8, ls=":")
    axes.annotate(
        f"{cross:.0f} images", (cross, copies / 1e6), (6, -13), textcoords="offset points"
    )
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set(xlabel="images per batch", ylabel="MB that a rank receives per step")
    axes.legend()
