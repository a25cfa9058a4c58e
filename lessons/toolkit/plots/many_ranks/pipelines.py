"""Plot the schedules of a pipeline from the stages' orders alone."""

from collections.abc import Mapping
from typing import Any

from lessons.toolkit.plots.figure import COLOURS, GREY, picture
from lessons.toolkit.ranks.schedules import Orders, bubble, held, timed

FORWARD = (COLOURS[0], COLOURS[5])  # colours of piece 0 and of all others
BACKWARD = (COLOURS[1], COLOURS[4])


@picture
def drawn_schedules(
    figure: Any, schedules: Mapping[str, Orders], forward: float = 1.0, backward: float = 2.0
) -> None:
    """Plot a row for each stage, with a box for each pass and the number of its micro-batch."""
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
    several = any(box.piece for boxes in drawn.values() for box in boxes)
    legend = {"forward": FORWARD[0], "backward": BACKWARD[0]}
    if several:
        legend |= {"forward, second piece": FORWARD[1], "backward, second piece": BACKWARD[1]}
    for label, colour in legend.items():
        found[0, 0].barh(0, 0, color=colour, label=label)
    figure.legend(loc="outside upper left", ncols=4, labelcolor=GREY)
