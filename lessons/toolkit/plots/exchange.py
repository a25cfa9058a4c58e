"""Plot what workers exchange in a step, when it is in transit, and the samples each one reads."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from autograder.records import Run
from autograder.wording import counted
from lessons.toolkit.plots.figure import COLOURS, GREY, canvas, legend_beside, look, picture, rows
from lessons.toolkit.ranks.timeline import ALLREDUCE, Step

Times = Mapping[str, Sequence[tuple[float, float]]]  # scheme -> pairs of bytes and seconds


@picture
def allreduce_times(figure: Any, points: Times, models: Any, unseen: Sequence[float]) -> None:
    """Plot seconds against bytes, with one colour per scheme and the fitted models as lines.

    Hollow points are sizes that the fit did not use.
    """
    axes = figure.subplots()
    for place, (scheme, measured) in enumerate(points.items()):
        style = look(place)
        for size, seconds in measured:
            face = "white" if size in unseen else style["color"]
            axes.plot(size, 1e3 * seconds, ls="", **style, mfc=face, ms=7, mew=1.6)
        axes.plot([], [], ls="", **style, label=scheme)
        if scheme in models:
            low, high = min(measured)[0], max(measured)[0]
            sizes = [low * (high / low) ** (step / 60) for step in range(61)]
            times = [1e3 * models[scheme](size) for size in sizes]
            axes.plot(sizes, times, "--", color=style["color"], lw=1.2, label=f"{scheme}, model")
    axes.plot([], [], "o", color=GREY, mfc="white", label="not used in the fit")
    axes.set(xscale="log", yscale="log", xlabel="bytes of the array", ylabel="time in ms")
    legend_beside(axes)


@picture
def tensor_timeline(figure: Any, all_steps: Sequence[Step]) -> None:
    """Plot a row for each tensor: grey while it is negotiated, blue while it is in transit."""
    names = list(dict.fromkeys(span.tensor for step in all_steps for span in step.spans))
    axes = canvas(figure, 7.2, 1.4 + 0.35 * len(names))
    begin = all_steps[0].start
    for step in all_steps:
        axes.axvline(1e3 * (step.start - begin), color="black", lw=1, ls=":")
        for span in step.spans:
            bar = (1e3 * (span.start - begin), 1e3 * (span.end - span.start))
            colour = COLOURS[0] if span.activity == ALLREDUCE else "#BBBBBB"
            axes.broken_barh([bar], (names.index(span.tensor) - 0.35, 0.7), color=colour)
    rows(axes, [name.removeprefix("allreduce.") for name in names])
    axes.set_xlabel("milliseconds; a dotted line marks the start of a step")
    for colour, label in (("#BBBBBB", "negotiated"), (COLOURS[0], "travels")):
        axes.barh(0, 0, color=colour, label=label)
    figure.legend(loc="outside upper left", ncols=2, labelcolor=GREY)


@picture
def buckets(figure: Any, run: Run) -> None:
    """Plot when each gradient bucket is in transit in the backward pass, one row per size."""
    found = journeys(run)
    axes = canvas(figure, 7.2, 1.6 + 0.8 * len(found))
    for place, (backward, travels) in enumerate(found.values()):
        computed = max((left for left, _ in travels), default=backward)
        axes.barh(place, 1e3 * computed, height=0.75, color="#E8E8E8")
        for number, (left, arrived) in enumerate(travels):
            height = 0.6 / len(travels)
            at = place - 0.3 + (number + 0.5) * height
            width = 1e3 * max(arrived - left, 0.002 * backward)
            axes.barh(at, width, 0.9 * height, 1e3 * left, color=look(number)["color"])
    rows(axes, [f"{size:g} MB: {counted(len(way), 'bucket')}" for size, (_, way) in found.items()])
    legend = "grey: until the last bucket is full; a colour: a bucket waits or travels"
    axes.set_xlabel(f"milliseconds since the backward pass began\n{legend}")


Journeys = dict[float, tuple[float, list[tuple[float, float]]]]


def journeys(run: Run, late_ms: float = 0.0) -> Journeys:
    """Return the seconds of the backward pass and its buckets' journeys, by bucket size in MB.

    A journey is the time when a bucket was sent, and the time when it arrived.
    """
    passes = run.measured("backward_s", late_ms=late_ms)
    found: Journeys = {each["bucket_mb"]: (each["value"], []) for each in passes}
    for each in run.measured("bucket_left_s", late_ms=late_ms):
        found[each["bucket_mb"]][1].append((each["value"], each["arrived_s"]))
    if not found:
        raise ValueError(f"The run has no bucket with late_ms = {late_ms:g}.")
    return found


def shares_of(run: Run) -> list[list[int]]:
    """Return the samples that each rank of a run reads in an epoch, from its record."""
    samples = int(run.header.dataset.train_samples or 0)
    shares = []
    for rank in run.ranks:
        pieces = rank.slices or ((0, samples, 1),)
        ranges = [range(a, samples if b is None else b, step) for a, b, step in pieces]
        shares.append([number for piece in ranges for number in piece])
    return shares


MOST_RANKS = 4  # that have a row of their own
TIMES = (-0.5, 0.5, 1.5, 10**9)  # bounds between not read, read once, and more often


@picture
def sample_map(figure: Any, shares: Mapping[str, Sequence[Iterable[int]]], samples: int) -> None:
    """Plot a row per rank and a column per sample, and the reads of each sample below."""
    import numpy as np
    from matplotlib.colors import BoundaryNorm, ListedColormap
    from matplotlib.patches import Patch

    times = {"not read": "white", "read once": "#9DC3DC", "read more than once": COLOURS[1]}
    colours = {"cmap": ListedColormap(list(times.values())), "norm": BoundaryNorm(TIMES, 3)}
    heights = [min(len(ranks), MOST_RANKS) + 1 for ranks in shares.values()]
    tall = 0.9 + sum(0.28 * height + 0.75 for height in heights)
    panels = canvas(figure, 7.2, tall, len(shares), height_ratios=heights, squeeze=False)[:, 0]
    for axes, (name, ranks) in zip(panels, shares.items(), strict=True):
        reads = np.zeros((len(ranks), samples), int)
        for row, share in zip(reads, ranks, strict=True):
            np.add.at(row, np.fromiter(share, int), 1)
        together = reads.sum(axis=0)
        shown = np.vstack([reads[:MOST_RANKS], together])
        place = (0, samples, len(shown) - 0.5, -0.5)
        axes.imshow(shown, aspect="auto", interpolation="nearest", extent=place, **colours)
        rows(axes, [*(f"rank {number}" for number in range(len(shown) - 1)), "together"])
        axes.axhline(len(shown) - 1.5, color="black", lw=1.5)
        axes.grid(False)
        never, twice = int((together == 0).sum()), int((together > 1).sum())
        axes.set_title(f"{name}: {never:,} never read, {twice:,} more than once", loc="left")
    panels[-1].set_xlabel("sample")
    patches = [Patch(facecolor=c, edgecolor=GREY, label=text) for text, c in times.items()]
    figure.legend(handles=patches, loc="outside upper left", ncols=len(patches))
