"""Keep a logbook of a restarted training run: what it read, saved and lost.

Each rank appends to a file of its own beside the checkpoints, so a kill loses no line. The program
writes to the logbook outside the gaps. Its last life then adds measures from the logbook to the run
record.
"""

import itertools
import json
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lessons.toolkit.record import Record

HOUR = 3600
POINTS = 60  # losses of a life in the record; the reader takes lists of up to 64


class Logbook:
    """One rank's logbook. Each start of the program begins a new life; the first is number 0."""

    def __init__(self, folder: str, rank: int, gather: Callable[[Any], list[Any]]) -> None:
        self.folder, self.rank, self.gather = Path(folder), rank, gather
        self.folder.mkdir(parents=True, exist_ok=True)
        lives = sum("begin" in line for line in lines_of(self.folder, 0))
        self.life = gather(lives)[0]  # all ranks have counted before one of them writes
        self.file = (self.folder / f"logbook_{rank}.jsonl").open("a", encoding="utf-8")
        self.number = 0

    def write(self, **line: Any) -> None:
        self.file.write(json.dumps({"life": self.life, **line}) + "\n")
        self.file.flush()

    def begin(self, number: int) -> None:
        """Record how many steps had been completed when this life began."""
        self.number = number
        self.write(begin=number)

    def read(self, samples: Any) -> None:
        """Record the samples that this rank reads in the step after the last completed one."""
        self.write(step=self.number, read=[int(each) for each in samples])

    def done(self, number: int, loss: float) -> None:
        self.number = number
        self.write(done=number, loss=round(float(loss), 4))

    @contextmanager
    def saving(self, number: int) -> Iterator[None]:
        """Time how long training stops for a checkpoint."""
        began = time.perf_counter()
        yield
        self.write(saved=number, seconds=time.perf_counter() - began)

    def warned(self, number: int) -> None:
        """Record that a warning, not a kill, ended this life of the job."""
        self.write(warned=number)

    def note(self, record: Record, args: Any) -> None:
        """Record lives, lost steps, reads per sample, and the best checkpoint interval."""
        self.file.flush()
        ranks = len(self.gather(0))
        if self.rank:
            return
        most = max(ranks, len(list(self.folder.glob("logbook_*.jsonl"))))
        books = [list(lines_of(self.folder, rank)) for rank in range(most)]
        lives = lives_of(books[0])
        each = args.windows // args.global_batch
        for number, life in enumerate(lives):
            record.measure("life", life["lost"], "steps", life=number, **life)
        for end in ("kill", "warning"):
            lost = [life["lost"] for life in lives if life["ended"] == end]
            if lost:
                record.measure(f"lost_to_{end}", max(lost), "steps")
        record.measure("lives", len(lives), "lives")
        lost = [life["lost"] / args.every for life in lives]
        record.measure("lost_over_interval", max(lost), "")
        record.measure("read_wrong", read_wrong(books, lives, each, args.windows), "samples")
        stops = [line["seconds"] for line in books[0] if "saved" in line]
        if stops:
            stop = statistics.median(stops)
            record.measure("stop_s", stop, "s")
            mtbf = args.node_mtbf * HOUR / args.nodes
            record.measure("best_interval_s", (2 * stop * mtbf) ** 0.5, "s", mtbf_s=mtbf)


def lines_of(folder: Path, rank: int) -> Iterator[dict[str, Any]]:
    """Yield the lines of a rank's logbook. A line that a kill has truncated is left out."""
    file = folder / f"logbook_{rank}.jsonl"
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
