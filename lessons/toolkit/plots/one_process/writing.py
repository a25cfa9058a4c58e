"""A picture of the text that a small language model learnt to write."""

import re
import textwrap
from pathlib import Path
from typing import Any

from autograder.records import Run
from lessons.toolkit.plots.figure import COLOURS, GREY, picture

LETTERS_A_LINE = 76
TITLE = "A small language model learns to write like Python's documentation"
SAMPLE = re.compile(r"^(Before|After) training it writes:\n((?:    .*\n)+)", re.M)


@picture
def writing(figure: Any, run: Run) -> None:
    """Plot the loss per epoch, with the network's text before and after training below."""
    samples = samples_in(run)
    figure.set_size_inches(7.2, 5)
    axes, below = figure.subplots(2, 1, height_ratios=[1, 1])
    losses = [(epoch.number, epoch.train_loss.value) for epoch in run.epochs if epoch.train_loss]
    if losses:
        axes.plot(*zip(*losses, strict=True), color=COLOURS[0], marker="o")
        axes.set_xticks([number for number, _ in losses])
    axes.set(xlabel="epoch", ylabel="loss (lower is better)")
    axes.set_title(f"{TITLE}\n{where_it_ran(run)}", loc="left", fontsize=11)
    below.set_axis_off()
    height = 1.0
    for moment, colour in (("Before", GREY), ("After", "black")):
        lines = textwrap.wrap(samples.get(moment, "(not in the output)"), LETTERS_A_LINE)
        text = "\n".join([f"{moment} training:", *lines])
        below.text(
            0, height, text, va="top", family="monospace", fontsize=9, color=colour,
            transform=below.transAxes, parse_math=False,
        )  # fmt: skip
        height -= 0.075 * (len(lines) + 2)


def samples_in(run: Run) -> dict[str, str]:
    """Return the printed texts as {"Before": text, "After": text}."""
    output = next((Path(file) for file in run.files if file.endswith(".out")), None)
    if output is None or not output.is_file():
        return {}
    printed = output.read_text(encoding="utf-8", errors="replace")
    return {m: " ".join(text.split()) for m, text in SAMPLE.findall(printed)}


def where_it_ran(run: Run) -> str:
    hosts = run.host_names
    params = run.header.get("params")
    words = [f"{params:,} parameters"] if isinstance(params, int) else []
    words += [f"{len(run.ranks)} ranks on {', '.join(hosts)}"] if hosts else []
    words += [f"{run.total_seconds.value:.0f} s"] if run.total_seconds else []
    return " · ".join(words)
