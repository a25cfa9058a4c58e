"""Pictures of large batches and old gradients: the loss in accuracy, and when they pay off."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

from autograder.records import Run
from lessons.toolkit.plots.figure import COLOURS, GREY, by_two, canvas, legend_beside, look, picture


@picture
def accuracy_by_workers(figure: Any, results: Mapping[str, Mapping[int, Sequence[float]]]) -> None:
    """Plot test accuracy against workers, with one line per rule and one point per seed."""
    axes = figure.subplots()
    counts = sorted({count for by_workers in results.values() for count in by_workers})
    for place, (rule, by_workers) in enumerate(results.items()):
        found, colour = dict(sorted(by_workers.items())), look(place)["color"]
        low, mean, high = ([pick(s) for s in found.values()] for pick in (min, fmean, max))
        axes.plot(list(found), mean, **look(place), lw=1.6, label=rule)
        axes.fill_between(list(found), low, high, color=colour, alpha=0.2, lw=0)
        for count, seeds in found.items():
            axes.plot([count] * len(seeds), seeds, ".", color=colour, ms=4)
        if 1 in found:
            axes.axhline(fmean(found[1]), color=GREY, ls="--", lw=1)
    by_two(axes, counts, "workers (batch / 32)", "test accuracy")
    axes.set_ylim(0, 1)
    legend_beside(axes)


@picture
def at_equal_loss(figure: Any, runs: Mapping[str, Any], level: float) -> None:
    """Plot training loss by epoch, and test accuracy against training loss. Each line is a seed.

    runs: name -> for each seed a list of (training loss, test accuracy) after each epoch. The
    accuracy gap is meaningful only at the loss `level`, and only for runs that have reached it.
    """
    from matplotlib.ticker import LogLocator, NullLocator

    left, right = canvas(figure, 7.6, 4.6, 1, 2)
    for place, (name, seeds) in enumerate(runs.items()):
        colour, marker = look(place).values()
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
    best = max(tested for seeds in runs.values() for epochs in seeds for _, tested in epochs)
    right.set_ylim(max(0.0, best - 0.1), best + 0.005)
    for axis in (left.yaxis, right.xaxis):
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter("{x:g}")
        axis.set_minor_locator(NullLocator())
    figure.legend(loc="outside upper left", ncols=1)


@picture
def four_curves(figure: Any) -> None:
    """Plot the distinct loss curves of four kinds of training, computed from formulas."""
    epochs = range(1, 21)
    small = [2.3 * math.exp(-0.9 * n) + 0.5 / n + 0.02 for n in epochs]
    cases = {  # training loss, and how far the test loss is above it at the end
        "curve 1": ([1.6 if n == 1 else 2.35 - 0.04 * math.sin(2.0 * n) for n in epochs], 0.03),
        "curve 2": (small, 0.03),
        "curve 3": ([2.3 - 0.07 * n for n in epochs], 0.03),
        "curve 4": (small, 0.45),
    }
    panels = canvas(figure, 7.2, 5.2, 2, 2, sharex=True, sharey=True).flat
    for axes, (name, (trained, rise)) in zip(panels, cases.items(), strict=True):
        tested = [loss + rise * (1 - math.exp(-n / 4)) for n, loss in enumerate(trained, start=1)]
        axes.plot(epochs, trained, color=COLOURS[0], lw=1.8, label="large batch, training")
        axes.plot(epochs, tested, "--", color=COLOURS[1], lw=1.8, label="large batch, test")
        axes.plot(epochs, small, color=GREY, lw=1.6, ls=":", label="small batch, training and test")
        axes.set_title(name, loc="left")
        axes.set(ylim=(0, 2.6), xticks=(1, 5, 10, 15, 20))
    figure.supxlabel("epoch")
    figure.supylabel("loss")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside upper left", ncols=3)


Seeds = Mapping[int, Sequence[float | None]]  # workers -> a number for each seed


@picture
def race(figure: Any, epochs: Seeds, gains: Seeds, target: float) -> None:
    """Plot the epochs to an accuracy, and the gain in time, by number of workers.

    A point is a seed. epochs: for each seed the epochs until the target, or None if not reached.
    gains: for each seed that reached the target, the gain over one worker if the exchange took no
    time.
    """
    left, right = canvas(figure, 7.6, 4.2, 1, 2)
    counts = sorted(epochs)
    for axes, values, colour in ((left, epochs, COLOURS[1]), (right, gains, COLOURS[0])):
        for n in counts:
            known = [value for value in values.get(n, ()) if value is not None]
            axes.plot([n] * len(known), known, "o", color=colour, ms=5, alpha=0.7)
    by_two(left, counts, "workers (batch / 32)", f"epochs until {target:g}")
    by_two(right, counts, "workers (batch / 32)", "speedup over one worker", up=True)
    lost = [n for n in counts if None in epochs[n]]
    top = max((v for values in epochs.values() for v in values if v is not None), default=1)
    words = "a seed did not reach it"
    left.plot(lost, [1.1 * top] * len(lost), "x", color=GREY, ms=9, label=words)
    left.set_ylim(0, 1.2 * top)
    right.plot(counts, counts, "--", color=GREY, label="comparing single epochs")
    right.plot([], [], "o", color=COLOURS[0], label=f"to {target:g}, with free communication")
    figure.legend(loc="outside upper left", ncols=2)


@picture
def staleness(figure: Any, rows: Mapping[str, Run | Iterable[int]]) -> None:
    """Plot a histogram for each row, with its mean dashed.

    A row is a measured run, or the staleness of each update in a simulation.
    """
    counted = {name: staleness_of(row) for name, row in rows.items()}
    most = max((late for each in counted.values() for late in each), default=0)
    panels = canvas(
        figure, 7.2, 1.0 + 1.45 * len(counted), len(counted), sharex=True, squeeze=False
    )
    for place, (axes, (name, counts)) in enumerate(zip(panels.flat, counted.items(), strict=True)):
        total = max(counts.total(), 1)
        mean = sum(late * count for late, count in counts.items()) / total
        shares = [100 * counts[late] / total for late in range(most + 1)]
        axes.bar(range(most + 1), shares, color=look(place)["color"])
        axes.axvline(mean, color=GREY, ls="--")
        axes.set_title(f"{name}: {mean:.2f} on average over {counts.total():,} updates", loc="left")
        axes.set(ylabel="updates in %", ylim=(0, 105))
        axes.grid(False, axis="x")
    if most < 25:
        axes.set_xticks(range(most + 1))
    axes.set_xlabel("staleness: updates between reading the parameters and applying the gradient")


def staleness_of(row: Run | Iterable[int]) -> Counter[int]:
    """Count the updates by staleness, from a run's record or from a list."""
    if not isinstance(row, Run):
        return Counter(int(late) for late in row)
    return Counter({int(m["late"]): int(m["value"]) for m in row.measured("staleness")})
