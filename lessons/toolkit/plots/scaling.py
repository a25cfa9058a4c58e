"""Plot a speed job, and a scaling study with the laws beyond the measured sizes."""

from collections.abc import Mapping, Sequence
from typing import Any

from autograder.measuring import interval, rounds, scaling_laws, study_table
from autograder.records import Run
from lessons.toolkit.plots.figure import COLOURS, GREY, by_two, canvas, look, picture, table

HEAD = ["kind", "ranks", "rounds", "seconds", "from", "to", "speedup", "low", "high", "efficiency"]
BESIDE = 0.035  # distance between the kinds, as a power of two


@picture
def scaling_study(figure: Any, runs: Sequence[Run]) -> None:
    """Plot speedup and efficiency against ranks for each kind of scaling. Every round is a point.

    The ideal is a dashed line, and the machine's ceiling is a dotted line. The numbers are listed
    below.
    """
    kinds = dict(study_table.by_kind(runs))
    rows = [[kind, *row.cells] for kind, found in kinds.items() for row in found]
    if not rows:
        raise ValueError("There are no points of a study to draw: submit job_study.sbatch")
    figure.set_size_inches(8.4, 4.2 + 0.28 * len(rows))
    top, below = figure.subfigures(2, 1, height_ratios=[4, 0.6 + 0.28 * len(rows)])
    left, right = top.subplots(1, 2)
    counts = sorted({row.ranks for found in kinds.values() for row in found})
    few = counts[0]
    left.plot(counts, [n / few for n in counts], "--", color=GREY, label="ideal")
    right.axhline(1, ls="--", color=GREY)
    most = next((m for run in runs if (m := interval.measured_or_none(rounds.ceiling, run))), None)
    if most:
        line = {"ms": 22, "mew": 2.5, "color": GREY}
        left.plot(counts[-1], most.value, "_", label="silent copies", **line)
        right.plot(counts[-1], most.value / counts[-1], "_", **line)
    points = [run for run in study_table.expanded(runs) if run.point]
    for place, (kind, found) in enumerate(kinds.items()):
        of_kind = [run for run in points if run.header.scaling == kind]
        draw_kind(left, right, place, kind, found, of_kind)
    what = "one rank" if few == 1 else f"{few} ranks"
    by_two(left, counts, "ranks", f"work per time, {what} = 1")
    by_two(right, counts, "ranks", "efficiency")
    left.set_ylim(bottom=0)
    right.set_ylim(bottom=0)
    top.legend(loc="outside upper left", ncols=5)
    table(below.subplots(), HEAD, rows)


def draw_kind(
    left: Any, right: Any, place: int, kind: str, rows: Any, points: Sequence[Run]
) -> None:
    aside = 2 ** (BESIDE * (place - 1))
    few = min(row.ranks for row in rows)
    for one in study_table.by_round(points):
        for count, run in one.items() if few in one else ():
            gain = study_table.pass_time(one[few]).value / study_table.pass_time(run).value
            gain *= count / few if kind == "weak" else 1
            for axes, share in ((left, 1), (right, count / few)):
                axes.plot(count * aside, gain / share, ls="", **look(place), ms=4, alpha=0.4)
    sizes = [row.ranks * aside for row in rows]
    left.plot(sizes, [row.speedup.value for row in rows], **look(place), ms=7, label=kind)
    right.plot(sizes, [row.efficiency.value for row in rows], **look(place), ms=7)


@picture
def laws_beyond(figure: Any, tables: Mapping[str, Any], fits: Mapping[str, Any], upto: int) -> None:
    """Plot measured speedups and fitted laws. Beyond the largest size, the range is shaded.

    tables: name -> (sizes, speedups); fits: name of the table -> [f], [s], [σ, κ].
    """
    panels = canvas(figure, 8.4, 4.4, 1, len(tables), sharey=True, squeeze=False)[0]
    for axes, (name, (sizes, speedups)) in zip(panels, tables.items(), strict=True):
        first, last = min(sizes), max(sizes)
        steps = [first * (upto / first) ** (i / 60) for i in range(61)]
        axes.plot(steps, [p / first for p in steps], "--", color=GREY, label="ideal")
        lines: list[list[float]] = []
        for law, fit in zip(scaling_laws.LAWS, fits.get(name, ()), strict=False):
            style = {"color": COLOURS[1 + len(lines)], "lw": 2.4 - 0.5 * len(lines)}
            lines.append([law.speedup(p, *fit) for p in steps])
            axes.plot(steps, lines[-1], ("", "-", "--", ":")[len(lines)], label=law.name, **style)
        if lines:
            beyond = [p >= last * 0.999 for p in steps]
            low, high = ([pick(each) for each in zip(*lines, strict=True)] for pick in (min, max))
            axes.fill_between(steps, low, high, beyond, color="#D9E8F5")
        axes.plot(sizes, speedups, "o", color=COLOURS[0], label="measured")
        axes.axvline(last, color=GREY, lw=0.8, ls=":")
        axes.set(xscale="log", yscale="log", xlabel="GPUs", title=name)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter("{x:g}")
        axes.set_ylim(0.7, upto / first)
    panels[0].set_ylabel(f"speedup over {min(next(iter(tables.values()))[0])}")
    panels[0].legend(loc="upper left")


LOOKS = {  # phase -> colour, marker
    "alone": (GREY, "s"),
    "silent": (COLOURS[4], "^"),
    "together": (COLOURS[0], "o"),
}


@picture
def speed_rounds(figure: Any, run: Run) -> None:
    """Plot samples per second in the three phases of every round, with speedup and share above."""
    found, ranks = rounds.rounds(run), rounds.ranks_of(run)
    gain, most, share = (metric(run) for metric in (rounds.speedup, rounds.ceiling, rounds.share))
    axes = figure.subplots()
    numbers = [one.number for one in found]
    work = [one.event["steps"] * one.event["samples"] * ranks for one in found]
    labels = {
        "alone": f"alone: one rank, times {ranks}",
        "silent": f"silent: {ranks} ranks, nothing exchanged ({most.value:.2f} times one)",
        "together": f"together: gradients averaged ({gain.value:.2f} times one)",
    }
    for phase, (colour, marker) in LOOKS.items():
        rates = [images / getattr(one, phase) for images, one in zip(work, found, strict=True)]
        axes.plot(numbers, rates, f"{marker}-", lw=0.8, color=colour, label=labels[phase])
    top = 1.08 * max(max(line.get_ydata()) for line in axes.lines)
    axes.set(xlabel="round", ylabel="images per second", xticks=numbers, ylim=(0, top))
    axes.grid(False, axis="x")
    told = f"{share.value:.2f} ({share.low:.2f} … {share.high:.2f}) of what this machine can give"
    axes.set_title(told, loc="left")
    figure.legend(loc="outside lower left")
