"""The type of a reader: its tags, and a function that returns the facts in a line."""

from collections.abc import Callable
from dataclasses import dataclass

from autograder.reading.line_facts import LineFacts


@dataclass(frozen=True, slots=True, eq=False)  # every reader is compared by identity
class Reader:
    format: str
    tags: tuple[str, ...]  # a line without any of these is not shown to the reader
    read: Callable[[str], LineFacts | None]
    after: str | None = None  # another format, whose headings also begin this one's epochs
