r"""Formats that a course's rubric brings: named regular expressions for its own program's lines.

    formats:
      - name: ours
        lines: ['epoch (?P<epoch>\d+) done in (?P<seconds>[\d.]+) s, loss (?P<train_loss>\S+)']

A pattern is searched for in each line, as by Python's re.search. Its named groups say what is what.
Because students write the lines and the instructor only the pattern, a pattern that some line
could keep busy for ever is refused when it is loaded.
"""

import re
import re._constants as op  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
from collections.abc import Iterable, Mapping
from typing import Any

from autograder.reading.formats.reader import Reader
from autograder.reading.formats.runaway import LONGEST_LINE, flat, runaway
from autograder.reading.line_facts import (
    ACCURACIES,
    EPOCH_NUMBERS,
    RUN_NUMBERS,
    LineFacts,
    RunFacts,
)
from autograder.reading.printed_numbers import fraction, printed
from autograder.records import Number
from autograder.safe_text import printable

LONGEST_PATTERN = 1000
MOST_PATTERNS = 20
COUNTS = ("epoch", "of", "step", "steps", "workers")
OF_RUN = (*RUN_NUMBERS, "workers", "job_id", "done")
NAMES = (*COUNTS, *EPOCH_NUMBERS, *RUN_NUMBERS, "job_id", "done")
SHORTEST_TAG = 3


class BadFormatError(ValueError):
    """A format that cannot be used; the message is for the instructor."""


def load(name: str, patterns: Iterable[str]) -> Reader:
    """A reader of lines that match one of the patterns. Raises BadFormatError."""
    sources = list(patterns)
    if not sources or len(sources) > MOST_PATTERNS:
        raise BadFormatError(f"format {name}: give 1 to {MOST_PATTERNS} patterns")
    compiled = [(check(name, source), re.compile(source)) for source in sources]

    def read(line: str) -> LineFacts | None:
        line = line[:LONGEST_LINE]
        for tag, pattern in compiled:
            match = pattern.search(line) if tag in line else None
            if match:
                return facts_of(match.groupdict())
        return None

    return Reader(name, tuple(tag for tag, _ in compiled), read)


def facts_of(groups: Mapping[str, str | None]) -> LineFacts | None:
    """What a match says; nothing, if a count is none or no group took part in it."""
    texts = {name: text for name, text in groups.items() if text is not None}
    counts = {name: count_of(texts[name]) for name in COUNTS if name in texts}
    if not texts or None in counts.values():
        return None
    numbers = {name: number_of(name, texts[name]) for name in EPOCH_NUMBERS if name in texts}
    run = None
    if not texts.keys().isdisjoint(OF_RUN):
        run = RunFacts(
            {name: number_of(name, texts[name]) for name in RUN_NUMBERS if name in texts},
            workers=counts.get("workers"),
            job_id=texts.get("job_id"),
            done="done" in texts,
        )
    return LineFacts(
        counts.get("epoch"),
        of=counts.get("of"),
        step=counts.get("step"),
        steps=counts.get("steps"),
        numbers=numbers,
        run=run,
    )


def count_of(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 12 else None


def number_of(name: str, text: str) -> Number | None:
    return fraction(text) if name in ACCURACIES else printed(text)


def check(name: str, source: str) -> str:
    """The words by which lines for the pattern are found; BadFormatError if it is no good one."""
    problem = f"format {name}, pattern '{printable(source, 80)}':"
    if len(source) > LONGEST_PATTERN:
        raise BadFormatError(f"{problem} longer than {LONGEST_PATTERN} characters")
    try:
        tree = parser.parse(source)
    except (re.error, RecursionError, OverflowError) as error:
        raise BadFormatError(f"{problem} {error}") from None
    unknown = sorted(set(tree.state.groupdict) - set(NAMES))
    if unknown:
        known = ", ".join(NAMES)
        raise BadFormatError(f"{problem} no group may be named {unknown[0]}; known are {known}")
    if not set(tree.state.groupdict):
        raise BadFormatError(f"{problem} it has no named group such as (?P<epoch>\\d+)")
    reason = runaway(tree)
    if reason:
        raise BadFormatError(f"{problem} {reason}")
    tag = longest_word(tree)
    if len(tag) < SHORTEST_TAG or tree.state.flags & re.IGNORECASE:
        raise BadFormatError(
            f"{problem} it needs a word of {SHORTEST_TAG} or more characters that stands in every "
            "line that it matches, in upper or lower case as there"
        )
    return tag


def longest_word(tree: Any) -> str:
    """The longest run of plain characters that every match must have."""
    best = word = ""
    for code, value in flat(tree):
        word = word + chr(value) if code is op.LITERAL else ""
        best = max(best, word, key=len)
    return best
