"""What every reader of a printed format is: tags, and a function from a line to what it says."""

from collections.abc import Callable
from dataclasses import dataclass

from autograder.reading.line_facts import LineFacts


@dataclass(frozen=True, slots=True, eq=False)  # each is one of its own, and known as that
class Reader:
    format: str
    tags: tuple[str, ...]  # a line without any of them says nothing to this reader
    read: Callable[[str], LineFacts | None]
    after: str | None = None  # another format, whose beginnings of epochs are this one's too
