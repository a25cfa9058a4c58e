"""A picture of several ranks and the samples that each one reads."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from autograder.records import Run
from lessons.toolkit.plots.figure import COLOURS, GREY, picture


def shares_of(run: Run) -> list[list[int]]:
    """Return the samples that each rank of a run reads in an epoch, from its record."""
    samples = int(run.header.dataset.train_samples or 0)
    shares = []
    for rank in run.ranks:
        pieces = rank.slices or ((0, samples, 1),)
        ranges = [range(a, samples if b is None else b, step) for a, b, step in pieces]
        shares.append([number for piece in ranges for number in piece])
    return shares


@picture
def sample_map(
    figure: Any, shares: Mapping[str, Sequence[Iterable[int]]], samples: int, most: int = 4
) -> None:
    """Plot a row per rank and a column per sample, and the reads of each sample below."""
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
