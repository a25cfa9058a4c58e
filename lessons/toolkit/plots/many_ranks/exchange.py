"""Plot the exchange between workers: its duration, its volume, and its timing in a step."""

from collections.abc import Mapping, Sequence
from typing import Any

from lessons.toolkit.plots.figure import COLOURS, GREY, MARKERS, picture
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
    """Plot the number of arrays that the busiest rank moves in sequence, by number of ranks."""
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
def allreduce_by_ranks(figure: Any, models: Mapping[str, Any], sizes: Sequence[int]) -> None:
    """Plot modelled seconds of an allreduce against the number of ranks, one panel per size.

    models: name of a scheme -> function of (ranks, bytes).
    """
    panels = figure.subplots(1, len(sizes), squeeze=False)[0]
    figure.set_size_inches(7.8, 4)
    counts = [2**power for power in range(1, 13)]
    for axes, size in zip(panels, sizes, strict=True):
        for place, (name, seconds) in enumerate(models.items()):
            look = {"color": COLOURS[place % len(COLOURS)], "marker": MARKERS[place % len(MARKERS)]}
            values = [1e3 * seconds(p, size) for p in counts]
            axes.plot(counts, values, **look, ms=4, lw=1.4, label=name)
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.xaxis.set_major_formatter("{x:g}")
        axes.set(xlabel="ranks", title=f"{size / 1e6:g} MB", xticks=counts[::3])
    panels[0].set_ylabel("ms, by the model")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper left", ncols=3)
