"""Pictures of learning (01), of what workers exchange (06) and of large batches (09)."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from lessons.toolkit.plots import COLOURS, GREY, MARKERS, picture


@picture
def fitted_curves(
    figure: Any, x: Sequence[float], y: Sequence[float], curves: Mapping[str, Any]
) -> None:
    """The points, and what is fitted to them: name -> (x values, y values), light to dark."""
    axes = figure.subplots()
    axes.plot(x, y, "o", color=GREY, mfc="white", label=f"{len(x)} points")
    for place, (name, (across, up)) in enumerate(curves.items(), start=1):
        strength = place / len(curves)
        axes.plot(across, up, color=COLOURS[0], alpha=strength, lw=0.8 + 1.6 * strength, label=name)
    axes.set(xlabel="x", ylabel="y")
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))


@picture
def losses(figure: Any, runs: Mapping[str, Sequence[float]], highest: float = 10.0) -> None:
    """Loss after each step, one line a run; what rises above `highest` leaves the picture."""
    axes = figure.subplots()
    ends = []
    for place, (name, values) in enumerate(runs.items()):
        colour = COLOURS[place % len(COLOURS)]
        inside = [v if math.isfinite(v) and v <= highest else math.nan for v in values]
        out = next((n for n, v in enumerate(inside) if math.isnan(v)), None)
        if out is not None:  # draw up to the edge only: it does not come back
            inside[out:] = [math.nan] * (len(inside) - out)
            axes.plot(out, highest, "^", color=colour, ms=10, clip_on=False)
            name = f"{name}: leaves the picture"
        axes.plot(range(len(inside)), inside, color=colour, lw=1.8, label=name)
        ends.append(len(values))
    axes.set_yscale("log")
    axes.set(xlabel="step", ylabel="loss", xlim=(0, max(ends) - 1))
    axes.set_ylim(top=highest)
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))


@picture
def weight_images(figure: Any, weights: Any, count: int = 16) -> None:
    """What the first hidden units look for: weights of 28 × 28 pixels, blue above, red below 0.

    weights: one column of 784 for each unit. The units with the largest weights are shown.
    """
    strength = (weights**2).sum(axis=0)
    units = sorted(range(weights.shape[1]), key=lambda unit: -strength[unit])[:count]
    rows = math.ceil(len(units) / 8)
    figure.set_size_inches(7.2, 1.1 * rows)
    for place, unit in enumerate(units, start=1):
        axes = figure.add_subplot(rows, 8, place)
        largest = abs(weights[:, unit]).max()
        image = weights[:, unit].reshape(28, 28)
        axes.imshow(image, cmap="RdBu", vmin=-largest, vmax=largest)
        axes.set_title(f"unit {unit}", fontsize=9, pad=2)
        axes.set_axis_off()


@picture
def allreduce_times(
    figure: Any,
    points: Mapping[str, Sequence[tuple[float, float]]],
    models: Mapping[str, Any],
    unseen: Sequence[float] = (),
) -> None:
    """Seconds against bytes, one colour a scheme; fitted models as lines, unseen sizes hollow."""
    axes = figure.subplots()
    for place, (scheme, measured) in enumerate(points.items()):
        colour, marker = COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]
        for size, seconds in measured:
            face = "white" if size in unseen else colour
            axes.plot(size, 1e3 * seconds, marker, color=colour, mfc=face, ms=7, mew=1.6)
        axes.plot([], [], marker, color=colour, label=scheme)
        if scheme in models:
            low, high = min(size for size, _ in measured), max(size for size, _ in measured)
            across = [low * (high / low) ** (step / 60) for step in range(61)]
            times = [1e3 * models[scheme](size) for size in across]
            axes.plot(across, times, "--", color=colour, lw=1.2, label=f"{scheme}, model")
    if unseen:
        axes.plot([], [], "o", color=GREY, mfc="white", label="not used in the fit")
    axes.set(xscale="log", yscale="log", xlabel="bytes of the array", ylabel="time in ms")
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))


@picture
def busiest_rank(figure: Any, moved: Mapping[str, Mapping[int, float]]) -> None:
    """How many arrays the busiest rank moves one after another, against the number of ranks."""
    axes = figure.subplots()
    counts = sorted({count for by_ranks in moved.values() for count in by_ranks})
    for place, (scheme, by_ranks) in enumerate(moved.items()):
        look = {"color": COLOURS[place], "marker": MARKERS[place], "lw": 1.6}
        axes.plot(list(by_ranks), list(by_ranks.values()), **look, label=scheme)
        last = max(by_ranks)
        axes.annotate(
            f"{by_ranks[last]:.3g}",
            (last, by_ranks[last]),
            xytext=(8, -4),
            textcoords="offset points",
            color=COLOURS[place],
        )
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set(xlabel="ranks", ylabel="arrays that the busiest rank moves", xticks=counts)
    axes.set_ylim(bottom=0)
    axes.legend(loc="upper left")


@picture
def accuracy_by_workers(
    figure: Any, results: Mapping[str, Mapping[int, Sequence[float]]], base: int = 1
) -> None:
    """Test accuracy against the number of workers, a line a rule, every seed a point."""
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
        if base in by_workers:
            axes.axhline(means[ordered.index(base)], color=GREY, ls="--", lw=1)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set(xlabel="workers (batch / 32)", ylabel="test accuracy", xticks=counts, ylim=(0, 1))
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))


@picture
def at_equal_loss(
    figure: Any, runs: Mapping[str, Sequence[Sequence[tuple[float, float]]]], level: float
) -> None:
    """Training loss by epoch, and test accuracy by training loss; a line for every seed.

    runs: name -> for each seed a list of (training loss, test accuracy) after each epoch. A gap can
    be read off at the level, and only of runs that have reached it.
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
    """Four kinds of training, drawn by formula: to be told apart by their losses."""
    figure.set_size_inches(7.2, 5.2)
    epochs = range(1, 21)
    small = [2.3 * math.exp(-0.9 * n) + 0.5 / n + 0.02 for n in epochs]
    cases = {
        "curve 1": [2.3 - 0.07 * n for n in epochs],
        "curve 2": [1.6 if n == 1 else 2.35 - 0.04 * math.sin(2.0 * n) for n in epochs],
        "curve 3": small,
        "curve 4": small,
    }
    above = {"curve 3": 0.45}  # how much the test lies above the training in the end
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
