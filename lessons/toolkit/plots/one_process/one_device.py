"""Plot training on one device, beside published numbers and against the batch size."""

from collections.abc import Mapping, Sequence
from typing import Any

from autograder.measuring import interval, measure
from autograder.records import Run
from lessons.toolkit.plots.figure import COLOURS, GREY, MARKERS, picture


@picture
def beside_published(
    figure: Any, run: Run, published: Mapping[str, Sequence[float]], name: str
) -> None:
    """Plot loss and training accuracy after each epoch. Rings are published values.

    published: (loss, accuracy) after each epoch.
    """
    figure.set_size_inches(7.6, 3.6)
    kinds = {"loss": "train_loss", "accuracy": "train_accuracy"}
    for axes, (kind, which) in zip(figure.subplots(1, 2), kinds.items(), strict=True):
        known = [(e.number, getattr(e, which).value) for e in run.epochs if getattr(e, which)]
        if known:
            axes.plot(*zip(*known, strict=True), "o-", color=COLOURS[0])
        rings = published[kind]
        axes.plot(
            range(1, len(rings) + 1), rings, "o", color=COLOURS[1], mfc="none", ms=10, mew=1.6
        )
        last = max(len(rings), len(run.epochs))
        axes.set(xlabel="epoch", ylabel=f"training {kind}", xticks=range(1, last + 1))
    axes.set_ylim(bottom=0)
    axes.plot([], [], "o-", color=COLOURS[0], label=f"your run: {work(run)}")
    axes.plot([], [], "o", color=COLOURS[1], mfc="none", ms=10, mew=1.6, label=name)
    figure.legend(loc="outside upper left", ncols=1)


def work(run: Run) -> str:
    """Return a description of a run's work: 512 images, 32 × 32, batch 64."""
    header = run.header
    samples, size, batch = header.dataset.train_samples or 0, header.image_size, header.global_batch
    return f"{samples:,} images, {size} × {size}, batch {batch}"


@picture
def throughput_by_batch(figure: Any, lines: Mapping[str, Sequence[Run]]) -> None:
    """Plot images per second against the batch size of one device.

    Whiskers: all epochs but the first.
    """
    axes = figure.subplots()
    points: dict[str, list[tuple[int, interval.Measure]]] = {}
    for name, runs in lines.items():
        points[name] = [
            (int(run.header.local_batch or 0), rate)
            for run in runs
            if (rate := interval.measured_or_none(measure.throughput, run))
        ]
    for place, (name, found) in enumerate(points.items()):
        found.sort(key=lambda point: point[0])
        batches = [batch for batch, _ in found]
        values = [rate.value for _, rate in found]
        ends = [[r.value - r.low for _, r in found], [r.high - r.value for _, r in found]]
        axes.errorbar(
            batches, values, ends, fmt=f"{MARKERS[place % len(MARKERS)]}-", capsize=3,
            color=COLOURS[place % len(COLOURS)], label=name,
        )  # fmt: skip
    every = sorted({batch for found in points.values() for batch, _ in found})
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set(xlabel="batch of a device", ylabel="images per second", xticks=every)
    axes.set_ylim(bottom=0)
    axes.text(
        0.99, 0.02, "whiskers: slowest and fastest epoch, without the first", ha="right",
        va="bottom", transform=axes.transAxes, fontsize=9, color=GREY,
    )  # fmt: skip
    figure.legend(loc="outside upper left", ncols=3)
