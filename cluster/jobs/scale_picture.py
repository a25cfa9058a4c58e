"""Plot speedup against ranks for `cluster scale`: one point per job, a dashed ideal line."""

from pathlib import Path
from statistics import median
from typing import Any

from autograder.measuring.interval import Measure, middle, ratio

BLUE, GREY, PALE = "#0072B2", "#595959", "#E0E0E0"


def draw(file: Path, times: dict[int, list[Measure]], weak: bool) -> None:
    """Draw the seconds per epoch. Each number of ranks has one time per job.

    In weak scaling N ranks do N times the work, so a constant time is a speedup of N.
    """
    from matplotlib.figure import Figure

    counts = sorted(times)
    base = middle(times[counts[0]])
    figure = Figure(figsize=(6.4, 4.8), layout="constrained", dpi=120)
    axes = figure.add_subplot()
    axes.plot(counts, [n / counts[0] for n in counts], "--", color=GREY, label="ideal")
    medians = []
    for count in counts:
        work = count / counts[0] if weak else 1
        gains = [ratio(base, time) for time in times[count]]
        medians.append(median(work * gain.value for gain in gains))
        label = "one job each, with its range" if count == counts[0] else None
        draw_jobs(axes, count, work, gains, label)
    axes.plot(counts, medians, color=BLUE, linewidth=1, label="median")
    dress(axes, counts, weak)
    shares = "   ".join(
        f"{count}: {gain:.2f} ({100 * gain * counts[0] / count:.0f} %)"
        for count, gain in zip(counts, medians, strict=True)
    )
    figure.supxlabel(f"ranks: gain (efficiency)   {shares}", fontsize=9, color=GREY)
    figure.savefig(file)


def draw_jobs(axes: Any, count: int, work: float, gains: list[Measure], label: str | None) -> None:
    """Draw one point per job, with its range.

    `work` is the work of each size relative to the smallest.
    """
    axes.errorbar(
        [count] * len(gains),
        [work * gain.value for gain in gains],
        [
            [work * (gain.value - gain.low) for gain in gains],
            [work * (gain.high - gain.value) for gain in gains],
        ],
        fmt="o",
        color=BLUE,
        ecolor="#9DC3DC",
        capsize=3,
        label=label,
    )


def dress(axes: Any, counts: list[int], weak: bool) -> None:
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter("{x:g}")
        axis.set_minor_formatter("")
    axes.set_xticks(counts)
    axes.set_xlabel("ranks")
    fewest = "one rank" if counts[0] == 1 else f"{counts[0]} ranks"
    axes.set_ylabel(f"{'work done per second' if weak else 'speed'}, {fewest} = 1")
    axes.grid(color=PALE)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="upper left")
