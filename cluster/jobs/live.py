"""Draw a running job's epochs in a notebook cell while they arrive."""

import math
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from autograder.reading.files import read_files
from autograder.records import Epoch, Run
from cluster.schedulers.contract import JobStatus

SAMPLE = "  It writes: "  # begins the line with a sample of the network's text
UNTRAINED = "Before training it writes:"  # the line above the first sample
SAMPLE_LETTERS = 78
WIDTH, HEIGHT, SAMPLE_HEIGHT = 640, 150, 24
LEFT, RIGHT, TOP, BOTTOM = 52, 16, 30, 24  # margins around the curve
BLUE, GREY = "#0072B2", "#595959"


class LiveEpochs:
    """The picture of a job's epochs in a notebook cell. Outside a notebook it shows nothing."""

    def __init__(self) -> None:
        self.display: Any = None
        self.seen = (Path(), 0)  # the output, and its size at the last look
        self.drawn = False

    def show(self, statuses: Sequence[JobStatus]) -> None:
        """Draw the epochs of the latest run if the output has grown.

        If the untrained network has already written a sample, the picture appears in its final size
        before the first epoch ends.
        """
        output = next((status.output for status in statuses if status.output), None)
        if output is None or not output.is_file() or not in_notebook():
            return
        seen = (output, output.stat().st_size)
        if seen == self.seen:
            return
        self.seen = seen
        all_, sample = read_files([output]), latest_sample(output)
        runs = [run for run in all_ if curve(run) or sample]
        if runs:
            self.drawn = True
            words = "\n".join([title(runs[-1]), sample] if sample else [title(runs[-1])])
            self.draw({"image/svg+xml": picture(runs[-1], sample), "text/plain": words})

    def draw(self, bundle: dict[str, str]) -> None:
        from IPython.display import display

        if self.display is None:
            self.display = display(bundle, raw=True, display_id=True)
        else:
            self.display.update(bundle, raw=True)


def in_notebook() -> bool:
    try:
        from IPython.core.getipython import get_ipython
    except ImportError:
        return False
    return getattr(get_ipython(), "kernel", None) is not None


def latest_sample(output: Path) -> str:
    """Return the network's sample text from its latest epoch or, failing that, before training."""
    lines = output.read_text(encoding="utf-8", errors="replace").splitlines()
    samples = [after for line, after in pairwise(lines) if line == UNTRAINED]
    samples += [line.removeprefix(SAMPLE) for line in lines if line.startswith(SAMPLE)]
    return samples[-1].strip()[:SAMPLE_LETTERS] if samples else ""


def curve(run: Run) -> list[tuple[int, float]]:
    """Return (epoch, training loss) of the epochs whose loss is a finite number."""
    losses = [(epoch.number, epoch.train_loss.value) for epoch in run.epochs if epoch.train_loss]
    return [(number, loss) for number, loss in losses if math.isfinite(loss)]


def epochs_asked(run: Run) -> int:
    asked = run.header.get("epochs_asked")
    return max([asked if isinstance(asked, int) else 0, *(e.number for e in run.epochs)])


def title(run: Run) -> str:
    """Return a line about the latest epoch: "epoch 3 of 10 · 2.1 s · loss 2.39"."""
    if not run.epochs:
        return "before training; the first epoch is running"
    last: Epoch = run.epochs[-1]
    words = [f"epoch {last.number} of {epochs_asked(run)}"]
    words += [f"{last.seconds.value:.1f} s"] if last.seconds else []
    words += [f"loss {last.train_loss.value:.3f}"] if last.train_loss else []
    words += [f"accuracy {last.train_accuracy.value:.3f}"] if last.train_accuracy else []
    return " · ".join(words)


def picture(run: Run, sample: str = "") -> str:
    """Return a small SVG of the loss after each epoch, with room for the epochs still to come.

    Below the curve is a sample of what the network writes, if the program prints one.
    """
    points = curve(run)
    low, high = (min(y for _, y in points), max(y for _, y in points)) if points else (0.0, 0.0)
    last = max(epochs_asked(run), 2)

    def place(epoch: int, loss: float) -> tuple[float, float]:
        x = LEFT + (epoch - 1) / (last - 1) * (WIDTH - LEFT - RIGHT)
        share = (high - loss) / (high - low) if high > low else 0.0
        return round(x, 1), round(TOP + share * (HEIGHT - TOP - BOTTOM), 1)

    places = [place(*point) for point in points]
    line = " ".join(f"{x},{y}" for x, y in places)
    dots = "".join(f'<circle cx="{x}" cy="{y}" r="3" fill="{BLUE}"/>' for x, y in places)
    labels = [
        (LEFT, 16, "start", title(run)),
        (LEFT, HEIGHT - 6, "start", "epoch 1"),
        (WIDTH - RIGHT, HEIGHT - 6, "end", f"epoch {last}"),
    ]
    labels += [(LEFT - 8, TOP + 4, "end", f"{high:.2f}")] if points else []
    labels += [(LEFT - 8, HEIGHT - BOTTOM + 4, "end", f"{low:.2f}")] if high > low else []
    texts = "".join(
        f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="{GREY}">{words}</text>'
        for x, y, anchor, words in labels
    )
    height = HEIGHT + SAMPLE_HEIGHT * bool(sample)
    if sample:
        texts += (
            f'<text x="{LEFT}" y="{height - 6}" font-family="monospace" font-size="12" '
            f'xml:space="preserve">{escape(sample)}</text>'
        )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        f'font-family="sans-serif" font-size="13">'
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>'
        f'<path d="M{LEFT} {TOP}V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}" stroke="#E0E0E0" fill="none"/>'
        f'<polyline points="{line}" fill="none" stroke="{BLUE}" stroke-width="2"/>'
        f"{dots}{texts}</svg>"
    )
