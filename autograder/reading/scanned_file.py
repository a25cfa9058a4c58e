"""Hold what has been read of one file so far, in bounded memory."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from autograder.codes import ProblemCode
from autograder.reading.formats import mllog
from autograder.reading.formats.bars import Bar
from autograder.reading.formats.plain.tables import Table
from autograder.reading.lanes import Lanes
from autograder.reading.line_facts import RunFacts
from autograder.reading.outcome import EndLine
from autograder.records import Problem, Where

T = TypeVar("T")
KEPT = 1 << 16  # bytes at a file's end that are examined
MOST = 500  # facts and ends kept from the beginning of a file, and as many from its end


class Ends(Generic[T]):
    """The first and last of many items, in bounded memory."""

    def __init__(self) -> None:
        self.first: list[T] = []
        self.last: deque[T] = deque(maxlen=MOST)

    def append(self, item: T) -> None:
        (self.first if len(self.first) < MOST else self.last).append(item)

    def __iter__(self) -> Iterator[T]:
        yield from self.first
        yield from self.last


@dataclass(slots=True)
class ScannedFile:
    """The contents of one file, read so far."""

    name: str
    size: int = 0  # bytes
    blank: bool = True
    tail: bytes = b""  # the file's last bytes
    lines: int = 1  # number of newlines + 1
    spans: dict[str | int, list[int]] = field(default_factory=dict)  # record: first and last byte
    benchmarks: mllog.Benchmarks = field(default_factory=mllog.Benchmarks)
    lanes: Lanes = field(default_factory=lambda: Lanes(""))
    facts: "Ends[tuple[int, RunFacts]]" = field(default_factory=lambda: Ends())  # with their lines
    ends: "Ends[EndLine]" = field(default_factory=lambda: Ends())
    bar: Bar | None = None  # the last one that no format understood
    unread: bool = False  # whether a line names an epoch, and no format understood it
    open_bar: bool = False  # whether the file ends with an unfinished bar
    open_traceback: bool = False  # whether the part read so far ends in a traceback
    table: Table | None = None  # the table in which the part read so far ends
    missed: int = 0  # lines since its last row
    tables_to: int = 0  # tables were followed up to this byte
    problems: list[Problem] = field(default_factory=list)
    broken: dict[int, int] = field(default_factory=dict)  # widths of damaged lines of a record

    def complain(
        self, line: int, text: str, reason: str, code: ProblemCode = ProblemCode.OTHER
    ) -> None:
        if len(self.problems) < MOST:
            self.problems.append(Problem(Where(self.name, line), text[:200], reason, code))
