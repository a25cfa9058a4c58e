"""Pictures of lesson 10: what each framework's way costs and gains, and when gradients travel."""

from collections.abc import Mapping
from typing import Any

from autograder.measuring import interval, measure
from autograder.records import Run
from lessons.toolkit.plots.figure import COLOURS, GREY, digits, picture, table


@picture
def ways(figure: Any, rows: Mapping[str, tuple[int, Run]]) -> None:
    """Changed lines and seconds of an epoch side by side, a bar for each way, the numbers below.

    rows: name -> (lines that its program changed, its run); the first is what the others are
    compared with.
    """
    names = list(rows)
    figure.set_size_inches(7.6, 2.6 + 0.62 * len(names))
    heights = [1.2 + 0.3 * len(names), 0.6 + 0.34 * len(names)]
    above, below = figure.subfigures(2, 1, height_ratios=heights)
    left, right = above.subplots(1, 2, sharey=True)
    lines = []
    for place, (name, (changed, run)) in enumerate(rows.items()):
        colour = COLOURS[place - 1] if place else GREY
        seconds = interval.measured_or_none(measure.epoch_time, run)
        rate = interval.measured_or_none(measure.throughput, run)
        left.barh(place, changed, color=colour)
        right.barh(place, seconds.value if seconds else 0, color=colour)
        lines.append(
            [
                name,
                str(run.workers),
                str(changed),
                digits(seconds.value) if seconds else "–",
                f"{rate.value:,.0f}" if rate else "–",
                f"{run.test_accuracy.value:.3f}" if run.test_accuracy else "–",
            ]
        )
    left.set_yticks(range(len(names)), names)
    left.invert_yaxis()
    for axes in (left, right):
        axes.grid(False, axis="y")
    left.set_xlabel("lines changed")
    right.set_xlabel("seconds of an epoch (first left out)")
    head = ["way", "ranks", "lines", "epoch in s", "images/s", "accuracy"]
    table(below.subplots(), head, lines)


@picture
def buckets(figure: Any, run: Run, late_ms: float = 0.0) -> None:
    """The journey of every bucket of gradients beside the backward pass; a row for each size."""
    found = journeys(run, late_ms)
    axes = figure.subplots()
    figure.set_size_inches(7.2, 1.6 + 0.8 * len(found))
    for place, (backward, travels) in enumerate(found.values()):
        axes.barh(place, 1e3 * backward, height=0.75, color="#E8E8E8")
        for number, (left, arrived) in enumerate(travels):
            colour = COLOURS[number % len(COLOURS)]
            height = 0.6 / len(travels)
            at = place - 0.3 + (number + 0.5) * height
            width = 1e3 * max(arrived - left, 0.002 * backward)
            axes.barh(at, width, left=1e3 * left, height=0.9 * height, color=colour)
    labels = [
        f"{size:g} MB: {len(travels)} bucket{'s' * (len(travels) > 1)}"
        for size, (_, travels) in found.items()
    ]
    axes.set_yticks(range(len(found)), labels)
    axes.invert_yaxis()
    axes.grid(False, axis="y")
    axes.set_xlabel(
        "milliseconds since the backward pass began\n"
        "grey: until all gradients are there; each colour: a bucket on its way"
    )


def journeys(
    run: Run, late_ms: float = 0.0
) -> dict[float, tuple[float, list[tuple[float, float]]]]:
    """Size of a bucket in MB -> seconds of backward, and when each bucket left and arrived."""
    found: dict[float, tuple[float, list[tuple[float, float]]]] = {}
    for told in run.measures:
        if told.get("late_ms") != late_ms:
            continue
        if told["name"] == "backward_s":
            found[told["bucket_mb"]] = (told["value"], [])
        elif told["name"] == "bucket_left_s":
            found[told["bucket_mb"]][1].append((told["value"], told["arrived_s"]))
    if not found:
        raise ValueError(f"The run tells of no bucket with late_ms = {late_ms:g}.")
    return found
