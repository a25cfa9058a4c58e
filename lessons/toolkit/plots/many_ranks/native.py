"""A picture of lesson 10: when gradients are in transit."""

from typing import Any

from autograder.records import Run
from lessons.toolkit.plots.figure import COLOURS, picture


@picture
def buckets(figure: Any, run: Run, late_ms: float = 0.0) -> None:
    """Plot when each gradient bucket is in transit in the backward pass, one row per size."""
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
        "grey: until all gradients are ready; each colour: one bucket in transit"
    )


def journeys(
    run: Run, late_ms: float = 0.0
) -> dict[float, tuple[float, list[tuple[float, float]]]]:
    """Return the backward pass and the buckets' times in transit, by bucket size in MB.

    The backward pass is given by its duration in seconds. A bucket is a pair: the time when it was
    sent and the time when it arrived.
    """
    found: dict[float, tuple[float, list[tuple[float, float]]]] = {}
    for told in run.measures:
        if told.get("late_ms") != late_ms:
            continue
        if told["name"] == "backward_s":
            found[told["bucket_mb"]] = (told["value"], [])
        elif told["name"] == "bucket_left_s":
            found[told["bucket_mb"]][1].append((told["value"], told["arrived_s"]))
    if not found:
        raise ValueError(f"The run has no bucket with late_ms = {late_ms:g}.")
    return found
