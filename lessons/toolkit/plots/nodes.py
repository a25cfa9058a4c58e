"""Draw the parts of a node and the links between them."""

from itertools import combinations
from typing import Any, NamedTuple

from lessons.toolkit.plots.figure import COLOURS, GREY, picture


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
