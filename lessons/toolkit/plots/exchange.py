"""Plot what workers exchange in a step, when it is in transit, and the samples each one reads."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from autograder.records import Run
from lessons.toolkit.plots.figure import COLOURS, GREY, look, picture
from lessons.toolkit.ranks.timeline import ALLREDUCE, Step


@picture
def allreduce_times(
    figure: Any,
    points: Mapping[str, Sequence[tuple[float, float]]],
    models: Mapping[str, Any],
    unseen: Sequence[float] = (),
) -> None:
    """Plot seconds against bytes, with one colour per scheme and the fitted models as lines.

    Hollow points are sizes that the fit did not use.
    """
    axes = figure.subplots()
    for place, (scheme, measured) in enumerate(points.items()):
        colour = look(place)["color"]
        for size, seconds in measured:
            face = "white" if size in unseen else colour
            axes.plot(size, 1e3 * seconds, ls="", **look(place), mfc=face, ms=7, mew=1.6)
        axes.plot([], [], ls="", **look(place), label=scheme)
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
def tensor_timeline(figure: Any, all_steps: Sequence[Step]) -> None:
    """Plot a row for each tensor: grey while it is negotiated, blue while it is in transit."""
    axes = figure.subplots()
    names = list(dict.fromkeys(span.tensor for step in all_steps for span in step.spans))
    figure.set_size_inches(7.2, 1.4 + 0.35 * len(names))
    begin = all_steps[0].start
    for step in all_steps:
        axes.axvline(1e3 * (step.start - begin), color="black", lw=1, ls=":")
        for span in step.spans:
            bar = (1e3 * (span.start - begin), 1e3 * (span.end - span.start))
            colour = COLOURS[0] if span.activity == ALLREDUCE else "#BBBBBB"
            axes.broken_barh([bar], (names.index(span.tensor) - 0.35, 0.7), color=colour)
    axes.set_yticks(range(len(names)), [name.removeprefix("allreduce.") for name in names])
    axes.set(
        xlabel="milliseconds; a dotted line marks the start of a step",
        ylim=(len(names) - 0.5, -0.5),
    )
    for colour, label in (("#BBBBBB", "negotiated"), (COLOURS[0], "travels")):
        axes.barh(0, 0, color=colour, label=label)
    figure.legend(loc="outside upper left", ncols=2, labelcolor=GREY)


@picture
def buckets(figure: Any, run: Run, late_ms: float = 0.0) -> None:
    """Plot when each gradient bucket is in transit in the backward pass, one row per size."""
    found = journeys(run, late_ms)
    axes = figure.subplots()
    figure.set_size_inches(7.2, 1.6 + 0.8 * len(found))
    for place, (backward, travels) in enumerate(found.values()):
        computed = max((left for left, _ in travels), default=backward)
        axes.barh(place, 1e3 * computed, height=0.75, color="#E8E8E8")
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
        "(grey ends when the last bucket is full; each colour is a bucket that waits or is sent)"
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
