"""Draw a running job's epochs in a notebook cell while they arrive."""

import math
import sys
from collections.abc import Sequence
from itertools import pairwise, starmap
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from autograder.reading.files import read_files
from autograder.records import Run
from cluster.schedulers.contract import JobStatus

SAMPLE = "  It writes: "  # begins the line with a sample of the network's text
UNTRAINED = "Before training it writes:"  # the line above the first sample
LEFT, RIGHT, TOP, BOTTOM = 52, 624, 30, 126  # of the curve
DOT = '<circle cx="{:.1f}" cy="{:.1f}" r="3" fill="#0072B2"/>'
SVG = """\
<svg xmlns="http://www.w3.org/2000/svg" width="640" height="{0}" font-family="sans-serif" \
font-size="13" fill="#595959"><rect width="640" height="{0}" fill="white"/>
<path d="M52 30V126H624" stroke="#E0E0E0" fill="none"/>
<polyline points="{1}" fill="none" stroke="#0072B2" stroke-width="2"/>{2}
<text x="52" y="16">{3}</text><text x="52" y="168">{4}</text>
<text x="52" y="144">epoch 1</text><g text-anchor="end"><text x="44" y="34">{5}</text>
<text x="44" y="130">{6}</text><text x="624" y="144">epoch {7}</text></g></svg>"""


class LiveEpochs:
    """The picture of a job's epochs in a notebook cell. Outside a notebook it shows nothing."""

    def __init__(self) -> None:
        self.display: Any = None
        self.seen, self.drawn = (Path(), 0), False  # the output, and its size at the last look

    def show(self, statuses: Sequence[JobStatus]) -> None:
        """Draw the latest run's epochs or the untrained network's text, if the output grew."""
        output = next((status.output for status in statuses if status.output), None)
        if output is None or not output.is_file() or not in_notebook():
            return
        if self.seen == (seen := (output, output.stat().st_size)):
            return
        self.seen, sample = seen, latest_sample(output)
        if runs := [run for run in read_files([output]) if curve(run) or sample]:
            self.drawn = True
            words = "\n".join(filter(None, [title(runs[-1]), sample]))
            self.draw({"image/svg+xml": picture(runs[-1], sample), "text/plain": words})

    def draw(self, bundle: dict[str, str]) -> None:
        if self.display is None:
            self.display = sys.modules["IPython"].display.display(bundle, raw=True, display_id=True)
        else:
            self.display.update(bundle, raw=True)


def in_notebook() -> bool:
    loaded = sys.modules.get("IPython")
    return getattr(loaded and loaded.get_ipython(), "kernel", None) is not None


def latest_sample(output: Path) -> str:
    """Return the network's sample text from its latest epoch or, failing that, before training."""
    lines = output.read_text(encoding="utf-8", errors="replace").splitlines()
    samples = [after for line, after in pairwise(lines) if line == UNTRAINED]
    samples += [line.removeprefix(SAMPLE) for line in lines if line.startswith(SAMPLE)]
    return samples[-1].strip()[:78] if samples else ""


def curve(run: Run) -> list[tuple[int, float]]:
    """Return (epoch, training loss) of the epochs whose loss is a finite number."""
    losses = [(epoch.number, epoch.train_loss.value) for epoch in run.epochs if epoch.train_loss]
    return [(number, loss) for number, loss in losses if math.isfinite(loss)]


def last_epoch(run: Run) -> int:
    return max([int(run.header.epochs_asked or 0), *(epoch.number for epoch in run.epochs)])


def title(run: Run) -> str:
    """Return a line about the latest epoch: "epoch 3 of 10 · 2.1 s · loss 2.39"."""
    if not run.epochs:
        return "before training; the first epoch is running"
    last = run.epochs[-1]
    values = {"{:.1f} s": last.seconds, "loss {:.3f}": last.train_loss}
    values |= {"accuracy {:.3f}": last.train_accuracy}
    words = [text.format(measure.value) for text, measure in values.items() if measure]
    return " · ".join([f"epoch {last.number} of {last_epoch(run)}", *words])


def picture(run: Run, sample: str = "") -> str:
    """Return a small SVG of the loss after each epoch, with room for the epochs still to come."""
    points, last = curve(run), max(last_epoch(run), 2)
    losses = [loss for _, loss in points] or [0.0]
    low, high = min(losses), max(losses)
    across, down = (RIGHT - LEFT) / (last - 1), (BOTTOM - TOP) / (high - low or 1)
    dots = [(LEFT + (n - 1) * across, TOP + (high - loss) * down) for n, loss in points]
    drawn = (" ".join(f"{x:.1f},{y:.1f}" for x, y in dots), "".join(starmap(DOT.format, dots)))
    ends = (f"{high:.2f}" if points else "", f"{low:.2f}" if high > low else "")
    return SVG.format(174 if sample else 150, *drawn, title(run), escape(sample), *ends, last)
