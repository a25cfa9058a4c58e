"""Hold what has been read of one file so far, in bounded memory."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from autograder.codes import FindingCode
from autograder.notes import Note, make_problem
from autograder.reading.ends import EndLine
from autograder.reading.lanes import Lanes
from autograder.reading.line_facts import RunFacts
from autograder.records import Where

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
    spans: dict[str, list[int]] = field(default_factory=dict)  # launch: first and last byte
    lanes: Lanes = field(default_factory=Lanes)
    facts: "Ends[tuple[int, RunFacts]]" = field(default_factory=lambda: Ends())  # with their lines
    ends: "Ends[EndLine]" = field(default_factory=lambda: Ends())
    open_traceback: bool = False  # whether the part read so far ends in a traceback
    problems: list[Note] = field(default_factory=list)
    broken: dict[int, int] = field(default_factory=dict)  # widths of damaged lines of a record

    def complain(
        self, line: int, text: str, reason: str, code: FindingCode = FindingCode.READ_PROBLEM
    ) -> None:
        if len(self.problems) < MOST:
            self.problems.append(make_problem(Where(self.name, line), text[:200], reason, code))
