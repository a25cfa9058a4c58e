"""Pictures of a job: its tasks and times, the text that it wrote, its lives, and nodes."""

import re
import textwrap
from datetime import datetime
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

from autograder.records import Run
from autograder.wording import counted
from cluster.schedulers import history
from lessons.toolkit.plots.figure import COLOURS, GREY, canvas, look, picture


@picture
def node_grid(figure: Any, run: Run) -> None:
    """Plot a square for each task, one row per node, and the job's stages below."""
    rows: dict[str, list[Any]] = {}
    for rank in sorted(run.ranks, key=lambda rank: (rank.host or "", rank.local_rank or 0)):
        rows.setdefault(rank.host or "unknown node", []).append(rank)
    tall = max(len(rows), 1)
    axes, below = canvas(figure, 7.2, 1.9 + 0.62 * tall, 2, height_ratios=[tall, 1.2])
    for y, ranks in enumerate(rows.values()):
        for x, rank in enumerate(ranks):
            colour = COLOURS[y % len(COLOURS)]
            axes.barh(y, 0.9, left=x + 0.05, height=0.8, color=colour, alpha=0.25, ec=colour, lw=2)
            text = f"rank {rank.rank}\nlocal {rank.local_rank}"
            axes.text(x + 0.5, y, text, ha="center", va="center")
    axes.set_yticks(range(len(rows)), list(rows))
    widest = max([4, *map(len, rows.values())])
    axes.set(xlim=(0, widest), ylim=(len(rows) - 0.4, -0.6), xticks=[])
    axes.grid(False)
    nodes = counted(len(rows), "node")
    axes.set_title(f"{len(run.ranks)} of {run.workers} tasks on {nodes}", loc="left")
    axes.spines[:].set_visible(False)
    submission = history.with_id(run.job_id) if run.job_id else None  # submitted from here
    job_bar(below, run, submission.submitted if submission else None)


def job_bar(axes: Any, run: Run, submitted: float | None) -> None:
    axes.spines[["left"]].set_visible(False)
    axes.grid(False)
    axes.set(yticks=[], xlabel="seconds")
    started = datetime.fromisoformat(str(run.header.started)).timestamp()
    lasted = run.total_seconds.value if run.total_seconds else 0.0
    waited = max(0.0, started - submitted) if submitted is not None else 0.0
    if submitted is not None:
        axes.barh(0, waited, height=0.5, color="white", edgecolor=GREY, hatch="////")
        axes.text(0, 0.35, "submitted", va="bottom", ha="left")
    axes.barh(0, lasted, left=waited, height=0.5, color=COLOURS[0])
    starts = f"started after {waited:.0f} s" if submitted is not None else "started"
    axes.text(waited, -0.35, starts, va="top", ha="left" if waited <= lasted else "right")
    end = f"ended after {waited + lasted:.0f} s" if run.total_seconds else "did not end"
    axes.text(waited + lasted, 0.35, end, va="bottom", ha="right")
    axes.set(ylim=(-1, 0.9), xlim=(0, 1.02 * (waited + lasted) or 1))


LETTERS_A_LINE = 76
TITLE = "A small language model learns to write like Python's documentation"
SAMPLE = re.compile(r"^(Before|After) training it writes:\n((?:    .*\n)+)", re.M)


@picture
def writing(figure: Any, run: Run) -> None:
    """Plot the loss per epoch, with the network's text before and after training below."""
    samples = samples_in(run)
    axes, below = canvas(figure, 7.2, 5, 2)
    losses = {epoch.number: epoch.train_loss.value for epoch in run.epochs if epoch.train_loss}
    axes.plot(*zip(*losses.items(), strict=True), color=COLOURS[0], marker="o")
    axes.set(xlabel="epoch", ylabel="loss (lower is better)", xticks=list(losses))
    where = f"{len(run.ranks)} ranks on {', '.join(run.host_names)}"
    axes.set_title(f"{TITLE}\n{where}", loc="left", fontsize=11)
    below.set_axis_off()
    height = 1.0
    for moment, colour in (("Before", GREY), ("After", "black")):
        lines = textwrap.wrap(samples.get(moment, "(not in the output)"), LETTERS_A_LINE)
        text = "\n".join([f"{moment} training:", *lines])
        font = {"family": "monospace", "fontsize": 9, "color": colour, "parse_math": False}
        below.text(0, height, text, va="top", transform=below.transAxes, **font)
        height -= 0.075 * (len(lines) + 2)


def samples_in(run: Run) -> dict[str, str]:
    """Return the printed texts as {"Before": text, "After": text}."""
    outputs = [Path(file) for file in run.files if file.endswith(".out")]
    printed = "".join(file.read_text(encoding="utf-8", errors="replace") for file in outputs)
    return {m: " ".join(text.split()) for m, text in SAMPLE.findall(printed)}


ENDS = {"kill": "killed", "warning": "warned", "end": "complete"}


@picture
def lives(figure: Any, run: Run, beside: Run | None = None) -> None:
    """Plot the loss of each training step, with one colour for each life of the run.

    Hatched steps are repeated by a later life. `beside` is the same training run without accidents.
    """
    axes = canvas(figure, 8.4, 4.4)
    for other in beside.measured("life") if beside else []:
        axes.plot(*curve(other.facts), color=GREY, lw=5, alpha=0.25, label="without accidents")
    found = sorted((life.facts for life in run.measured("life")), key=lambda life: life["life"])
    known: dict[int, float] = {}  # the loss of each step so far
    for place, life in enumerate(found):
        colour = look(place)["color"]
        end = ENDS.get(life["ended"], life["ended"])
        label = f"life {place + 1}: {end} after step {life['last']}"
        x, y = curve(life)
        if life["first"] in known:  # begin where the earlier life was saved
            x, y = [life["first"], *x], [known[life["first"]], *y]
        axes.plot(x, y, color=colour, lw=1.8, label=label)
        known |= dict(zip(x, y, strict=True))
        if life["lost"]:
            begin = life["last"] - life["lost"]
            axes.axvspan(begin, life["last"], facecolor="none", edgecolor=colour, hatch="///", lw=0)
            text = {"ha": "center", "va": "top", "backgroundcolor": "white", "fontsize": 10}
            text |= {"color": colour, "transform": axes.get_xaxis_transform()}
            axes.text((begin + life["last"]) / 2, 0.98, f"{life['lost']} lost", **text)
        if life["ended"] != "end":
            axes.axvline(life["last"], color=colour, lw=1.2, ls=":")
    axes.set(xlabel="step", ylabel="training loss", xlim=(0, None))
    axes.grid(axis="x", visible=False)
    figure.legend(*axes.get_legend_handles_labels(), loc="outside upper left", ncols=3)


def curve(life: Any) -> tuple[list[int], list[float]]:
    """Return the numbers of the steps, and the loss of each."""
    losses = list(life["losses"])
    first, every = life["first"] + 1, life.get("every", 1)
    return list(range(first, first + every * len(losses), every)), losses


class Node(NamedTuple):
    """A node with a network card for each GPU. Speeds are in GB/s, in one direction."""

    title: str
    cores: int  # of each of two CPUs
    gpus: int
    has_switch: bool
    links: str
    card: str


# From the centre's user guide and NVIDIA's data sheets (A100, ConnectX-6).
NODES = (
    Node("JUWELS Booster", 24, 4, False, "NVLink: 100 GB/s per pair", "cards: 25 GB/s each"),
    Node("8 A100 with a switch", 64, 8, True, "NVLink: 300 GB/s per GPU", "cards: 25 GB/s each"),
)


@picture
def nodes(figure: Any) -> None:
    """Draw two nodes: CPUs, GPUs joined by NVLink directly or by a switch, and network cards."""
    for axes, node in zip(figure.subplots(1, 2), NODES, strict=True):
        width, switch = 12 / node.gpus, node.has_switch
        places = [width * (number + 0.5) for number in range(node.gpus)]
        for place in places:
            axes.plot([3 if place < 6 else 9, place, place], [6, 4, 1], color=GREY, lw=1, zorder=1)
            box(axes, place, 4, 0.9 * width, "GPU", COLOURS[0])
            box(axes, place, 1, 0.9 * width, "card", COLOURS[4])
        for half in (3, 9):
            box(axes, half, 6, 5, f"CPU, {node.cores} cores", COLOURS[5])
        if switch:
            box(axes, 6, 2.5, 11.8, "NVSwitch", COLOURS[2])
        pairs = [(place, place) for place in places] if switch else combinations(places, 2)
        bend = f"arc3,rad={0 if switch else 0.35}"
        line = {"arrowstyle": "-", "color": COLOURS[2], "lw": 2, "connectionstyle": bend}
        for one, other in pairs:
            axes.annotate("", (other, 2.7 if switch else 3.6), (one, 3.6), arrowprops=line)
        axes.text(6, -0.4, f"{node.links}\n{node.card}", ha="center", va="top")
        axes.set(xlim=(0, 12), ylim=(-2, 7), title=node.title)
        axes.set_axis_off()


def box(axes: Any, x: float, y: float, width: float, words: str, colour: str) -> None:
    """Draw a rectangle around a place, with words in it."""
    bounds = (x - width / 2, x + width / 2)
    axes.fill_between(bounds, y - 0.4, y + 0.4, fc="white", ec=colour, lw=2, zorder=2)
    axes.text(x, y, words, ha="center", va="center", size=8, zorder=3)
