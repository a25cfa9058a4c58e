"""Pictures of training with large batches: the loss in accuracy, and when they pay off."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from autograder.measuring import measure
from autograder.measuring.interval import measured_or_none, ratio
from autograder.records import Run
from lessons.toolkit.plots.figure import COLOURS, GREY, MARKERS, digits, picture, table


@picture
def accuracy_by_workers(figure: Any, results: Mapping[str, Mapping[int, Sequence[float]]]) -> None:
    """Plot test accuracy against workers, with one line per rule and one point per seed."""
    axes = figure.subplots()
    counts = sorted({count for by_workers in results.values() for count in by_workers})
    for place, (rule, by_workers) in enumerate(results.items()):
        look = {"color": COLOURS[place % len(COLOURS)], "marker": MARKERS[place % len(MARKERS)]}
        ordered = sorted(by_workers)
        means = [sum(by_workers[n]) / len(by_workers[n]) for n in ordered]
        axes.plot(ordered, means, **look, lw=1.6, label=rule)
        lows, highs = ([pick(by_workers[n]) for n in ordered] for pick in (min, max))
        axes.fill_between(ordered, lows, highs, color=look["color"], alpha=0.2, lw=0)
        for count in ordered:
            seeds = by_workers[count]
            axes.plot([count] * len(seeds), seeds, ".", color=look["color"], ms=4)
        if 1 in by_workers:
            axes.axhline(means[ordered.index(1)], color=GREY, ls="--", lw=1)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set(xlabel="workers (batch / 32)", ylabel="test accuracy", xticks=counts, ylim=(0, 1))
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))


@picture
def at_equal_loss(
    figure: Any, runs: Mapping[str, Sequence[Sequence[tuple[float, float]]]], level: float
) -> None:
    """Plot training loss by epoch, and test accuracy against training loss. Each line is a seed.

    runs: name -> for each seed a list of (training loss, test accuracy) after each epoch. The
    accuracy gap is meaningful only at the loss `level`, and only for runs that have reached it.
    """
    from matplotlib.ticker import LogLocator, NullLocator

    left, right = figure.subplots(1, 2)
    figure.set_size_inches(7.6, 4.6)
    for place, (name, seeds) in enumerate(runs.items()):
        colour, marker = COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]
        reached = []
        for epochs in seeds:
            trained, tested = zip(*epochs, strict=True)
            left.plot(range(1, len(epochs) + 1), trained, color=colour, lw=1.4)
            right.plot(trained, tested, color=colour, lw=1.0, alpha=0.7)
            reached += [point for point in epochs if point[0] <= level][:1]
        for point in reached:
            right.plot(*point, marker, color=colour, ms=7)
        told = "has not reached it: no claim"
        if len(reached) == len(seeds):
            found = sorted(accuracy for _, accuracy in reached)
            told = f"test accuracy {found[0]:.3f} to {found[-1]:.3f} there"
        left.plot([], [], marker, ls="-", color=colour, label=f"{name}: {told}")
    left.axhline(level, color=GREY, ls="--", lw=1, label=f"equal training loss, {level:g}")
    right.axvline(level, color=GREY, ls="--", lw=1)
    left.set(xlabel="epoch", ylabel="training loss", yscale="log")
    right.set(xlabel="training loss (falls to the right)", ylabel="test accuracy", xscale="log")
    right.invert_xaxis()
    ends = [accuracy for seeds in runs.values() for epochs in seeds for _, accuracy in epochs]
    right.set_ylim(max(0.0, max(ends) - 0.1), max(ends) + 0.005)
    for axis in (left.yaxis, right.xaxis):
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter("{x:g}")
        axis.set_minor_locator(NullLocator())
    figure.legend(loc="outside upper left", ncols=1)


@picture
def four_curves(figure: Any) -> None:
    """Plot the distinct loss curves of four kinds of training, computed from formulas."""
    figure.set_size_inches(7.2, 5.2)
    epochs = range(1, 21)
    small = [2.3 * math.exp(-0.9 * n) + 0.5 / n + 0.02 for n in epochs]
    cases = {
        "curve 1": [2.3 - 0.07 * n for n in epochs],
        "curve 2": [1.6 if n == 1 else 2.35 - 0.04 * math.sin(2.0 * n) for n in epochs],
        "curve 3": small,
        "curve 4": small,
    }
    above = {"curve 3": 0.45}  # how far the test loss is above the training loss at the end
    panels = figure.subplots(2, 2, sharex=True, sharey=True).flat
    for axes, (name, trained) in zip(panels, cases.items(), strict=True):
        rise = above.get(name, 0.03)
        tested = [loss + rise * (1 - math.exp(-n / 4)) for n, loss in enumerate(trained, start=1)]
        axes.plot(epochs, trained, color=COLOURS[0], lw=1.8, label="large batch, training")
        axes.plot(epochs, tested, "--", color=COLOURS[1], lw=1.8, label="large batch, test")
        axes.plot(epochs, small, color=GREY, lw=1.6, ls=":", label="small batch, training and test")
        axes.set_title(name, loc="left")
        axes.set(ylim=(0, 2.6), xticks=(1, 5, 10, 15, 20))
    figure.supxlabel("epoch")
    figure.supylabel("loss")
    handles = figure.axes[0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside upper left", ncols=3)


@picture
def race(
    figure: Any,
    epochs: Mapping[int, Sequence[int | None]],
    gains: Mapping[int, Sequence[float]],
    target: float,
) -> None:
    """Plot the epochs to an accuracy, and the gain in time, by number of workers.

    A point is a seed.

    epochs: workers -> for each seed the epochs until the target, or None if it was not reached.
    gains: workers -> for each seed that reached the target, the gain over one worker if the
    exchange took no time.
    """
    left, right = figure.subplots(1, 2)
    figure.set_size_inches(7.6, 4.2)
    counts = sorted(epochs)
    for axes, values, colour in ((left, epochs, COLOURS[1]), (right, gains, COLOURS[0])):
        known = {n: [v for v in values.get(n, ()) if v is not None] for n in counts}
        for n in counts:
            axes.plot([n] * len(known[n]), known[n], "o", color=colour, ms=5, alpha=0.7)
        means = [(n, sum(known[n]) / len(known[n])) for n in counts if known[n]]
        if means:
            axes.plot(*zip(*means, strict=True), "-", color=colour, lw=1.4)
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_formatter("{x:g}")
        axes.set(xlabel="workers (batch / 32)", xticks=counts)
    lost = [n for n in counts if None in epochs[n]]
    top = max((v for values in epochs.values() for v in values if v is not None), default=1)
    left.plot(lost, [1.1 * top] * len(lost), "x", color=GREY, ms=9,
              label="a seed did not reach it")  # fmt: skip
    left.set(ylabel=f"epochs until {target:g}", ylim=(0, 1.2 * top))
    right.plot(counts, counts, "--", color=GREY, label="comparing single epochs")
    right.plot([], [], "o-", color=COLOURS[0], label=f"to {target:g}, with free communication")
    right.set_yscale("log", base=2)
    right.yaxis.set_major_formatter("{x:g}")
    right.set(ylabel="speedup over one worker")
    figure.legend(loc="outside upper left", ncols=2)


@picture
def arrivals(figure: Any, runs: Sequence[Run], target: float) -> None:
    """Plot speedups per epoch and to a lasting test accuracy, against the number of ranks."""
    by_ranks = {run.workers or 1: run for run in sorted(runs, key=lambda run: run.workers or 1)}
    epochs = {n: measured_or_none(measure.epoch_time, run) for n, run in by_ranks.items()}
    reached = {
        n: measured_or_none(measure.time_to_accuracy, run, target) for n, run in by_ranks.items()
    }
    if not by_ranks:
        raise ValueError("There is no run to draw: submit job_nodes.sbatch")
    figure.set_size_inches(7.2, 4.4 + 0.28 * len(by_ranks))
    axes, below = figure.subplots(2, 1, height_ratios=[4, 0.4 + 0.3 * len(by_ranks)])
    counts = list(by_ranks)
    few = counts[0]
    axes.plot(counts, [n / few for n in counts], "--", color=GREY, label="ideal")
    for place, (label, times) in enumerate(
        {"an epoch": epochs, f"until {target:g} on the test images": reached}.items()
    ):
        base = times[few]
        sooner = {n: ratio(base, t).value for n, t in times.items() if base and t}
        look = {"color": COLOURS[place], "marker": MARKERS[place]}
        axes.plot(sooner.keys(), sooner.values(), **look, label=label)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter("{x:g}")
    axes.set(xlabel="ranks", ylabel=f"speedup over {few}", xticks=counts)
    axes.legend(loc="upper left")
    rows = []
    for n in counts:
        epoch, arrival = (digits(t.value) if t else "not reached" for t in (epochs[n], reached[n]))
        after = (found.basis if (found := reached[n]) else "").removeprefix("after epoch ")
        rows.append([str(n), epoch, arrival, after])
    table(below, ["ranks", "epoch in s", f"s until {target:g}", "in epoch"], rows)
