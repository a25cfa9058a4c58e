"""Pictures of several ranks: who reads which sample, and what more ranks gain."""

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from autograder.records import Run
from lessons.toolkit.plots import COLOURS, GREY, MARKERS, digits, picture, table


def shares_of(run: Run) -> list[list[int]]:
    """The samples that each rank of a run reads in an epoch, as its record says."""
    samples = run.header["dataset"]["train_samples"]
    shares = []
    for rank in run.ranks:
        pieces = rank.slices or (rank.shard or (0, samples, 1),)
        shares.append([number for piece in pieces for number in range(*piece)])
    return shares


@picture
def sample_map(
    figure: Any, shares: Mapping[str, Sequence[Iterable[int]]], samples: int, most: int = 4
) -> None:
    """A row for each rank, a column for each sample; below them how often it is read in all."""
    import numpy as np
    from matplotlib.colors import BoundaryNorm, ListedColormap
    from matplotlib.patches import Patch

    times = {"not read": "white", "read once": "#9DC3DC", "read more than once": COLOURS[1]}
    colours = ListedColormap(list(times.values()))
    norm = BoundaryNorm([-0.5, 0.5, 1.5, 10**9], 3)
    heights = [min(len(ranks), most) + 1 for ranks in shares.values()]
    figure.set_size_inches(7.2, 0.9 + sum(0.28 * h + 0.75 for h in heights))
    panels = figure.subplots(len(shares), 1, height_ratios=heights, squeeze=False)[:, 0]
    for axes, (name, ranks) in zip(panels, shares.items(), strict=True):
        reads = np.zeros((len(ranks), samples), int)
        for row, share in zip(reads, ranks, strict=True):
            np.add.at(row, np.fromiter(share, int), 1)
        together = reads.sum(axis=0)
        shown = np.vstack([reads[:most], together])
        axes.imshow(shown, aspect="auto", interpolation="nearest", cmap=colours, norm=norm,
                    extent=(0, samples, len(shown), 0))  # fmt: skip
        labels = [f"rank {number}" for number in range(len(shown) - 1)]
        axes.set_yticks([n + 0.5 for n in range(len(shown))], [*labels, "together"])
        axes.axhline(len(shown) - 1, color="black", lw=1.5)
        axes.grid(False)
        never, twice = int((together == 0).sum()), int((together > 1).sum())
        axes.set_title(f"{name}: {never:,} never read, {twice:,} more than once", loc="left")
    panels[-1].set_xlabel("sample")
    patches = [Patch(facecolor=c, edgecolor=GREY, label=text) for text, c in times.items()]
    figure.legend(handles=patches, loc="outside upper left", ncols=len(patches))


@picture
def time_and_accuracy(
    figure: Any,
    runs: Mapping[str, Sequence[Run]],
    published: Mapping[int, float] | None = None,
) -> None:
    """Seconds from start to end and test accuracy against ranks; every run a point."""
    left, right = figure.subplots(1, 2)
    figure.set_size_inches(7.6, 4.2)
    counts: set[int] = set()
    for place, (name, found) in enumerate(runs.items()):
        colour, marker = COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]
        for axes, which in ((left, "total_seconds"), (right, "test_accuracy")):
            known = [
                (run.workers or 1, getattr(run, which).value)
                for run in found
                if getattr(run, which) is not None
            ]
            counts |= {count for count, _ in known}
            axes.plot(*zip(*known, strict=True), marker, color=colour)
            typical = [
                (count, statistics.median(value for at, value in known if at == count))
                for count in sorted({count for count, _ in known})
            ]
            axes.plot(*zip(*typical, strict=True), "-", color=colour, lw=1)
        left.plot([], [], f"{marker}-", color=colour, label=name)
    if published:
        right.plot(
            published.keys(), published.values(), "o", color=GREY, mfc="none", ms=9,
            label="published (Jülich): 60,000 images, a GPU a rank",
        )  # fmt: skip
        counts |= set(published)
    for axes, what in ((left, "start to end in s"), (right, "test accuracy")):
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_formatter("{x:g}")
        axes.set(xlabel="ranks", ylabel=what, xticks=sorted(counts))
    left.set_ylim(bottom=0)
    figure.legend(loc="outside upper left", ncols=2)


@picture
def epoch_times(figure: Any, runs: Mapping[str, Run]) -> None:
    """Steps and seconds of an epoch, a bar for each run, the numbers below."""
    from autograder.measuring import measure

    names = list(runs)
    figure.set_size_inches(7.2, 3.4 + 0.3 * len(names))
    axes, below = figure.subplots(2, 1, height_ratios=[3, 0.5 + 0.32 * len(names)])
    rows = []
    for place, (name, run) in enumerate(runs.items()):
        time = measure.measured_or_none(measure.epoch_time, run)
        seconds = time.value if time else math.nan
        axes.barh(place, seconds, color=COLOURS[place % len(COLOURS)])
        unique = run.epochs[-1].unique_samples if run.epochs else None
        steps = run.epochs[-1].steps if run.epochs else None
        rows.append([name, str(run.workers), str(steps), f"{unique or 0:,}", digits(seconds)])
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.grid(False, axis="y")
    axes.set_xlabel("seconds of an epoch (first one left out)")
    table(below, ["run", "ranks", "steps", "different images", "epoch in s"], rows)
