"""A picture of a speed job: its rounds, and the used share of the machine."""

from statistics import median
from typing import Any

from autograder.measuring import rounds
from autograder.records import Run
from autograder.wording import counted
from lessons.toolkit.plots.figure import COLOURS, GREY, picture

MOST_SHARE = 1.1  # ranks that exchange gradients cannot be faster than ranks that do not
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
    labels = {
        "alone": f"alone: one rank, times {ranks}",
        "silent": f"silent: {ranks} ranks, nothing exchanged ({most.value:.2f} times one)",
        "together": f"together: gradients averaged ({gain.value:.2f} times one)",
    }
    for phase, (colour, marker) in LOOKS.items():
        rates = [work(one) * ranks / getattr(one, phase) for one in found]
        look = {"marker": marker, "ls": "-", "lw": 0.8, "color": colour}
        axes.plot(numbers, rates, **look, label=labels[phase])
    axes.set(xlabel="round", ylabel="images per second", xticks=numbers)
    axes.set_ylim(0, 1.08 * max(max(line.get_ydata()) for line in axes.lines))
    axes.grid(False, axis="x")
    axes.set_title(
        f"{share.value:.2f} ({share.low:.2f} … {share.high:.2f}) of what this machine can give",
        loc="left",
    )
    figure.legend(loc="outside lower left")


@picture
def speedup_card(figure: Any, run: Run) -> None:
    """Show your speedup as one large number, with the three phases."""
    found, ranks = rounds.rounds(run), rounds.ranks_of(run)
    gain, share = rounds.speedup(run), rounds.share(run)
    hosts = run.host_names
    facts = [
        f"{share.value:.0%} of what this machine can give"
        if share.value <= MOST_SHARE
        else "the machine was busy: measure again",
        " on ".join([counted(ranks, "rank"), *([counted(len(hosts), "host")] if hosts else [])]),
        run.header.device or "",
        run.header.framework or "",
    ]
    figure.set_size_inches(7.2, 3)
    left, axes = figure.subplots(1, 2, width_ratios=[1.4, 1])
    left.set_axis_off()
    left.text(0, 0.73, f"{gain.value:.2f} ×", size=40, weight="bold", color=COLOURS[0], va="center")
    left.text(0, 0.49, "as fast as one rank", fontsize=13, va="center")
    left.text(0, 0.31, "\n".join(fact for fact in facts if fact), va="top", color=GREY)
    names = ("one rank", f"{ranks} ranks,\nno exchange", f"{ranks} ranks,\ntogether")
    bars = dict(zip(names, (("alone", 1), ("silent", ranks), ("together", ranks)), strict=True))
    for place, (phase, times) in enumerate(bars.values()):
        height = median(work(one) * times / getattr(one, phase) for one in found)
        axes.bar(place, height, color=LOOKS[phase][0])
    axes.set_xticks(range(len(bars)), bars)
    axes.set_ylabel("images per second")
    axes.grid(False, axis="x")


def work(one: rounds.Round) -> float:
    """Return one rank's samples in a phase, or 1 if the round does not state them."""
    return (one.event.number("steps") or 1.0) * (one.event.number("samples") or 1.0)
