"""Pictures of learning: curves, weights, images, and the seconds and accuracy of each epoch."""

import math
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any

from autograder.measuring import interval, measure
from autograder.records import Number, Run
from lessons.toolkit.plots.figure import COLOURS, GREY, digits, legend_beside, look, picture


@picture
def fitted_curves(
    figure: Any, x: Sequence[float], y: Sequence[float], curves: Mapping[str, Any]
) -> None:
    """Plot the points and the curves fitted to them.

    `curves`: name -> (x values, y values), drawn from light to dark.
    """
    axes = figure.subplots()
    axes.plot(x, y, "o", color=GREY, mfc="white", label=f"{len(x)} points")
    for place, (name, (across, up)) in enumerate(curves.items(), start=1):
        strength = place / len(curves)
        axes.plot(across, up, color=COLOURS[0], alpha=strength, lw=0.8 + 1.6 * strength, label=name)
    axes.set(xlabel="x", ylabel="y")
    legend_beside(axes)


@picture
def losses(
    figure: Any, runs: Mapping[str, Sequence[float]], highest: float = 10.0, per: str = "step"
) -> None:
    """Plot the loss after each step, one line per run. Values above `highest` are cut off.

    per: "epoch" if the values are those of epochs, which count from 1.
    """
    axes = figure.subplots()
    first = int(per == "epoch")
    for place, (name, values) in enumerate(runs.items()):
        colour = look(place)["color"]
        inside = list(takewhile(lambda loss: loss <= highest, values))  # it does not come back
        if len(inside) < len(values):
            axes.plot(len(inside) + first, highest, "^", color=colour, ms=10, clip_on=False)
            name = f"{name}: leaves the picture"
        axes.plot(range(first, len(inside) + first), inside, color=colour, lw=1.8, label=name)
    last = max(map(len, runs.values())) - 1 + first
    axes.set(xlabel=per, ylabel="loss", yscale="log", xlim=(first, last), ylim=(None, highest))
    axes.xaxis.get_major_locator().set_params(integer=True)
    legend_beside(axes)


@picture
def weight_images(figure: Any, weights: Any) -> None:
    """Show weights of the first hidden units as 28 × 28 pixels, blue above 0 and red below.

    weights: one column of 784 for each unit. The 16 units with the largest weights are shown.
    """
    units = (-(weights**2).sum(axis=0)).argsort()[:16]
    shown = [weights[:, unit].reshape(28, 28) / abs(weights[:, unit]).max() for unit in units]
    tiles(figure, shown, [f"unit {unit}" for unit in units], cmap="RdBu", vmin=-1, vmax=1)


@picture
def images(figure: Any, pixels: Any, labels: Sequence[Any]) -> None:
    """Show images with their labels, eight per row."""
    tiles(figure, pixels, labels, cmap="gray_r")  # which has no effect on colours


def tiles(figure: Any, pixels: Sequence[Any], labels: Sequence[Any], **look: Any) -> None:
    rows = math.ceil(len(pixels) / 8)
    figure.set_size_inches(7.2, 1.15 * rows)
    for place, (image, label) in enumerate(zip(pixels, labels, strict=True), start=1):
        axes = figure.add_subplot(rows, 8, place)
        axes.imshow(image, **look)
        axes.set_title(str(label), fontsize=10, pad=2)
        axes.set_axis_off()


NOT_COUNTED = {"facecolor": "white", "hatch": "////"}


@picture
def epoch_bars(figure: Any, runs: Mapping[str, Run]) -> None:
    """Plot the seconds of each epoch, with the first epoch hatched.

    A line shows the reported time per epoch.
    """
    axes = figure.subplots()
    width = 0.8 / max(len(runs), 1)
    most = 1
    for place, (name, run) in enumerate(runs.items()):
        colour = look(place)["color"]
        seconds = [number.value for number in seconds_of(run)]
        most = max(most, len(seconds))
        centres = [n + (place + 0.5) * width - 0.4 for n in range(1, len(seconds) + 1)]
        for bar in axes.bar(centres, seconds, width * 0.92, color=colour)[:1]:
            bar.set(edgecolor=colour, **NOT_COUNTED)
        if time := interval.measured_or_none(measure.epoch_time, run):
            for centre in centres[1:]:  # across this program's own bars only
                ends = centre - 0.46 * width, centre + 0.46 * width
                axes.hlines(time.value, *ends, "black", lw=2)
            name = f"{name}: {digits(time.value)} s per epoch ({time.basis}), the black line"
        axes.bar(0, 0, color=colour, label=name)
    axes.bar(0, 0, edgecolor=GREY, label="first epoch: not counted", **NOT_COUNTED)
    axes.set(xlabel="epoch", ylabel="training time in s", xticks=range(1, most + 1, 1 + most // 15))
    axes.set_xlim(0.5, most + 0.5)
    axes.grid(False, axis="x")
    figure.legend(loc="outside upper left")


@picture
def accuracy_curves(figure: Any, runs: Mapping[str, Run]) -> None:
    """Plot training accuracy after each epoch, and test accuracy at the end."""
    axes = figure.subplots()
    last = 1
    for place, (name, run) in enumerate(runs.items()):
        known = [(e.number, e.train_accuracy.value) for e in run.epochs if e.train_accuracy]
        if known:
            axes.plot(*zip(*known, strict=True), **look(place), label=f"{name}, training")
            last = max(last, known[-1][0])
        if run.test_accuracy is not None:
            end = 0.15 + (run.epochs[-1].number if run.epochs else 1)
            value = run.test_accuracy.value
            style = {"ls": "", "mfc": "white", "ms": 10, "mew": 2, **look(place)}
            axes.plot(end, value, label=f"{name}, test: {value:.4f}", **style)
    edge, ticks = max(0.4, last / 30), range(1, last + 1, 1 + last // 15)
    axes.set(xlabel="epoch", ylabel="accuracy", xticks=ticks, xlim=(1 - edge / 2, last + edge))
    if axes.lines:
        legend_beside(axes)


def seconds_of(run: Run) -> list[Number]:
    return [epoch.seconds or Number(0.0) for epoch in run.epochs]
