"""Read the journal of a restarted training run: what it read, saved and lost.

Each rank of lesson 15 appends to a file of its own beside the checkpoints, so a kill loses no line.
"""

import itertools
import json
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

POINTS = 60  # losses of a life in the record; the reader takes lists of up to 64


def told_by_journals(folder: str, every: int, each: int, samples: int) -> dict[str, float]:
    """Return a job's numbers: lives, lost steps, wrong reads, and the seconds of a checkpoint.

    every: steps between two checkpoints. each, samples: steps and samples of an epoch.
    """
    ranks = len(list(Path(folder).glob("journal_*.jsonl")))
    books = [list(lines_of(folder, rank)) for rank in range(ranks)]
    lives = lives_of(books[0])
    stops = [line["seconds"] for line in books[0] if "saved" in line]
    numbers = {
        "lives": len(lives),
        "lost_over_interval": max(life["lost"] / every for life in lives),
        "read_wrong": read_wrong(books, lives, each, samples),
        "stop_s": statistics.median(stops),
    }
    for end in ("kill", "warning"):
        lost = [life["lost"] for life in lives if life["ended"] == end]
        numbers |= {f"lost_to_{end}": max(lost)} if lost else {}
    return numbers


def lines_of(folder: str, rank: int) -> Iterator[dict[str, Any]]:
    """Yield the lines of a rank's journal. A line that a kill has truncated is left out."""
    file = Path(folder) / f"journal_{rank}.jsonl"
    for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else []:
        if line.endswith("}"):
            yield json.loads(line)


def lives_of(book: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """For each life, return where it began, where and why it ended, and how many steps it lost."""
    lives: list[dict[str, Any]] = []
    for line in book:
        if "begin" in line:
            lives.append({"first": line["begin"], "last": line["begin"], "ended": "kill"})
            lives[-1] |= {"lost": 0, "losses": []}
        elif "done" in line and lives:
            lives[-1]["last"] = line["done"]
            lives[-1]["losses"].append(line["loss"])
        elif "warned" in line and lives:
            lives[-1]["ended"] = "warning"
    for life, later in itertools.pairwise(lives):
        life["lost"] = max(0, life["last"] - later["first"])
    for life in lives:
        every = -(-len(life["losses"]) // POINTS) or 1
        life |= {"every": every, "losses": [round(x, 3) for x in life["losses"][::every]]}
    if lives:
        lives[-1]["ended"] = "end"
    return lives


def read_wrong(
    books: list[list[dict[str, Any]]], lives: list[dict[str, Any]], each: int, samples: int
) -> int:
    """Return how many samples were not read exactly once, in the worst epoch.

    A step counts if its update is in the final parameters, that is, if no later life repeated it.
    each: the number of steps per epoch.
    """
    ends = [life["first"] for life in lives[1:]] + [lives[-1]["last"]]
    epochs: dict[int, Counter[int]] = {}
    for line in (line for book in books for line in book if "read" in line):
        if line["life"] < len(ends) and line["step"] < ends[line["life"]]:
            epochs.setdefault(line["step"] // each, Counter()).update(line["read"])
    number = -(-lives[-1]["last"] // each)
    counts = [epochs.get(epoch, Counter()) for epoch in range(number)]
    wrong = (sum(count[n] != 1 for n in range(samples)) for count in counts)
    return max(wrong, default=samples)
