"""A picture of a speed job: its rounds, and what part of the machine the ranks made use of."""

from typing import Any

from autograder.measuring import rounds
from autograder.records import Run
from lessons.toolkit.plots.figure import COLOURS, GREY, picture

LOOKS = {  # phase -> colour, marker
    "alone": (GREY, "s"),
    "silent": (COLOURS[4], "^"),
    "together": (COLOURS[0], "o"),
}


@picture
def speed_rounds(figure: Any, run: Run) -> None:
    """Samples a second of the three phases of every round; above, speedup and share."""
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
        rates = [rate(one, getattr(one, phase)) * ranks for one in found]
        look = {"marker": marker, "ls": "-", "lw": 0.8, "color": colour}
        axes.plot(numbers, rates, **look, label=labels[phase])
    axes.set(xlabel="round", ylabel=unit_of(found[0]), xticks=numbers)
    axes.set_ylim(0, 1.08 * max(max(line.get_ydata()) for line in axes.lines))
    axes.grid(False, axis="x")
    axes.set_title(
        f"{share.value:.2f} ({share.low:.2f} … {share.high:.2f}) of what this machine can give",
        loc="left",
    )
    figure.legend(loc="outside lower left")


def rate(one: rounds.Round, seconds: float) -> float:
    """Of one rank; samples a second, if the round says how many there were."""
    return work(one) / seconds


def work(one: rounds.Round) -> float:
    return (one.event.number("steps") or 1.0) * (one.event.number("samples") or 1.0)


def unit_of(one: rounds.Round) -> str:
    return "images a second" if work(one) != 1.0 else "phases a second"
