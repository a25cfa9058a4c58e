"""Pictures of training: images, and the seconds and accuracy of each epoch."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from autograder.codes import Outcome
from autograder.measuring import interval, measure
from autograder.records import Epoch, Number, Run
from autograder.wording import counted
from lessons.toolkit.plots.figure import COLOURS, GREY, MARKERS, card, digits, picture

Seconds = Run | Sequence[float]


@picture
def images(figure: Any, pixels: Any, labels: Sequence[Any]) -> None:
    """Show images with their labels, eight per row."""
    rows = math.ceil(len(pixels) / 8)
    figure.set_size_inches(7.2, 1.15 * rows)
    for number, (image, label) in enumerate(zip(pixels, labels, strict=True), start=1):
        axes = figure.add_subplot(rows, 8, number)
        axes.imshow(image, cmap="gray_r" if image.ndim == 2 else None)
        axes.set_title(str(label), fontsize=11, pad=2)
        axes.set_axis_off()


@picture
def epoch_bars(figure: Any, runs: Mapping[str, Seconds]) -> None:
    """Plot the seconds of each epoch, with the first epoch hatched.

    A line shows the reported time per epoch.
    """
    axes = figure.subplots()
    width = 0.8 / max(len(runs), 1)
    most, medians = 1, False
    for place, (name, run) in enumerate(runs.items()):
        colour = COLOURS[place % len(COLOURS)]
        seconds = seconds_of(run)
        most = max(most, len(seconds))
        centres = [n + (place + 0.5) * width - 0.4 for n in range(1, len(seconds) + 1)]
        bars = axes.bar(
            centres,
            [number.value for number in seconds],
            width * 0.92,
            color=colour,
            yerr=rounding(seconds),
            error_kw={"ecolor": "black", "capsize": 3},
        )
        for bar in bars[:1]:
            bar.set(facecolor="white", edgecolor=colour, hatch="////")
        time = interval.measured_or_none(measure.epoch_time, as_run(run))
        if time:
            for centre in centres[1:]:  # across this program's own bars only
                left, right = centre - 0.46 * width, centre + 0.46 * width
                axes.hlines(time.value, left, right, "black", lw=2)
            medians = True
            name = f"{name}: {digits(time.value)} s per epoch ({time.basis})"
        axes.bar(0, 0, color=colour, label=name)
    axes.bar(
        0, 0, facecolor="white", edgecolor=GREY, hatch="////", label="first epoch: not counted"
    )
    if medians:
        axes.hlines(0, 0, 0, "black", lw=2, label="black line: seconds per epoch")
    axes.set(xlabel="epoch", ylabel="training time in s", xticks=range(1, most + 1))
    axes.set_xlim(0.5, most + 0.5)
    axes.grid(False, axis="x")
    figure.legend(loc="outside upper left", ncols=1)


@picture
def accuracy_curves(figure: Any, runs: Mapping[str, Run]) -> None:
    """Plot training accuracy after each epoch, and test accuracy at the end."""
    axes = figure.subplots()
    last = 1
    for place, (name, run) in enumerate(runs.items()):
        look = {"color": COLOURS[place % len(COLOURS)], "marker": MARKERS[place % len(MARKERS)]}
        for which, line in (("train_accuracy", "-"), ("val_accuracy", ":")):
            known = [(e.number, getattr(e, which).value) for e in run.epochs if getattr(e, which)]
            if known:
                what = "training" if which == "train_accuracy" else "validation"
                axes.plot(*zip(*known, strict=True), line, **look, label=f"{name}, {what}")
                last = max(last, known[-1][0])
        if run.test_accuracy is not None:
            end = run.epochs[-1].number if run.epochs else 1
            value = run.test_accuracy.value
            axes.plot(
                end + 0.15, value, ls="", **look, mfc="white", ms=10, mew=2,
                label=f"{name}, test: {value:.4f}",
            )  # fmt: skip
    axes.set(xlabel="epoch", ylabel="accuracy", xticks=range(1, last + 1))
    axes.set_xlim(0.8, last + 0.4)
    if axes.lines:
        axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))


@picture
def speed_card(figure: Any, run: Run, samples_per_second: float) -> None:
    """Show the throughput as one large number, with the epochs and the hardware."""
    params = run.header.params
    facts = [
        f"{params:,} parameters" if isinstance(params, int) else "",
        f"test accuracy {run.test_accuracy.value:.3f}" if run.test_accuracy else "",
        run.header.device or "",
        f"{run.header.framework or 'one framework'}, {counted(run.workers or 1, 'rank')}",
    ]
    number = f"{float(f'{samples_per_second:.3g}'):,.0f}"
    axes = card(figure, number, "training images per second", facts)
    seconds = [number.value for number in seconds_of(run)]
    bars = axes.bar(range(1, len(seconds) + 1), seconds, color=COLOURS[0])
    for bar in bars[:1]:
        bar.set(facecolor="white", edgecolor=COLOURS[0], hatch="////")
    xlabel = "epoch (hatched: not counted)"
    axes.set(xlabel=xlabel, ylabel="seconds", xticks=range(1, len(seconds) + 1))
    axes.grid(False, axis="x")


def seconds_of(run: Seconds) -> list[Number]:
    if isinstance(run, Run):
        return [epoch.seconds or Number(0.0) for epoch in run.epochs]
    return [Number(float(value)) for value in run]


def as_run(run: Seconds) -> Run:
    if isinstance(run, Run):
        return run
    epochs = (Epoch(n, seconds) for n, seconds in enumerate(seconds_of(run), start=1))
    return Run(files=(), format="list", outcome=Outcome.COMPLETED, epochs=tuple(epochs))


def rounding(seconds: Sequence[Number]) -> list[float] | None:
    """Return error bars for the rounding of the log's times, or None if they are precise enough."""
    halves = [number.half_width for number in seconds]
    coarse = any(number.half_width > 0.01 * number.value for number in seconds)
    return halves if coarse else None
