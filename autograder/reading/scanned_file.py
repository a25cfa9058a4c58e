"""What one file says, as far as it was read, in bounded memory."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from autograder.codes import ProblemCode
from autograder.reading.beside_records import BesideRecords
from autograder.reading.formats import mllog
from autograder.reading.formats.bars import Bar
from autograder.reading.formats.plain.tables import Table
from autograder.reading.lanes import Lanes
from autograder.reading.line_facts import RunFacts
from autograder.reading.outcome import EndLine
from autograder.records import Problem, Where

T = TypeVar("T")
MOST = 500  # facts and ends kept of a file: so many of its beginning and of its end


class Ends(Generic[T]):
    """The first and the last of many: what a bounded memory keeps of a flood."""

    def __init__(self) -> None:
        self.first: list[T] = []
        self.last: deque[T] = deque(maxlen=MOST)

    def append(self, item: T) -> None:
        (self.first if len(self.first) < MOST else self.last).append(item)

    @property
    def flooded(self) -> bool:
        """Return whether items appended from now on stay only until MOST others have come."""
        return len(self.first) >= MOST

    def __iter__(self) -> Iterator[T]:
        yield from self.first
        yield from self.last


@dataclass(slots=True)
class ScannedFile:
    """The contents of one file, as far as it was read."""

    name: str
    size: int = 0  # bytes
    last_line: int = 0  # of those that are not blank
    tail: bytes = b""  # the file's last bytes
    lines: int = 1  # one more than there are line ends
    beside: BesideRecords = field(default_factory=BesideRecords)  # what the records' runs printed
    spans: dict[str | int, list[int]] = field(default_factory=dict)  # record: first, end byte
    benchmarks: mllog.Benchmarks = field(default_factory=mllog.Benchmarks)
    lanes: Lanes = field(default_factory=lambda: Lanes(""))
    facts: "Ends[tuple[int, RunFacts]]" = field(default_factory=lambda: Ends())  # with their lines
    ends: "Ends[EndLine]" = field(default_factory=lambda: Ends())
    bar: Bar | None = None  # the last of those that no format knows
    unread: bool = False  # a line names an epoch, and no format knows what it says
    open_bar: bool = False  # the file ends with a bar that was not ended
    open_traceback: bool = False  # what was read so far ends within one
    table: Table | None = None  # what was read so far ends within one
    missed: int = 0  # lines since its last row
    tables_to: int = 0  # up to this byte, tables have been followed
    walked: int = 0  # up to this byte, tracebacks have been followed to their ends
    problems: list[Problem] = field(default_factory=list)
    broken: list[tuple[int, int]] = field(default_factory=list)  # a record's lines, their widths

    def complain(
        self, line: int, text: str, reason: str, code: ProblemCode = ProblemCode.OTHER
    ) -> None:
        if len(self.problems) < MOST:
            self.problems.append(Problem(Where(self.name, line), text[:200], reason, code))
