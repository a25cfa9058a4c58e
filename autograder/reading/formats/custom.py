r"""Formats that a course's rubric brings: named regular expressions for its own program's lines.

    formats:
      - name: ours
        lines: ['epoch (?P<epoch>\d+) done in (?P<seconds>[\d.]+) s, loss (?P<train_loss>\S+)']

A pattern is searched for in each line, as by Python's re.search. Its named groups say what is what.
Because students write the lines and the instructor only the pattern, a pattern that some line
could keep busy for ever is refused when it is loaded. A template line (template.py) cannot be such.
"""

import re
import re._constants as op  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from autograder.reading.formats import template
from autograder.reading.formats.reader import Reader
from autograder.reading.formats.runaway import LONGEST_LINE, flat, runaway
from autograder.reading.line_facts import (
    ACCURACIES,
    EPOCH_NUMBERS,
    RUN_NUMBERS,
    EpochNumber,
    EpochNumbers,
    LineFacts,
    RunFacts,
    RunNumber,
    RunNumbers,
)
from autograder.reading.printed_numbers import fraction, printed
from autograder.safe_text import shortened

LONGEST_PATTERN = 1000
MOST_PATTERNS = 20
COUNTS = ("epoch", "of", "step", "steps", "workers")
WORDS = ("job_id", "done")
NAMES = (*COUNTS, *EPOCH_NUMBERS, *RUN_NUMBERS, *WORDS)
SHORTEST_TAG = 3


class BadFormatError(ValueError):
    """A format that cannot be used; the message is for the instructor."""


def load(name: str, patterns: Iterable[str], templates: Iterable[str] = ()) -> Reader:
    """A reader of lines that match one of the templates, the longest first, or else one of the
    patterns. Raises BadFormatError."""
    sources = list(patterns)
    lines = sorted(templates, key=len, reverse=True)  # `test loss {…}` before `loss {…}`
    if not 0 < len(sources) + len(lines) <= MOST_PATTERNS:
        raise BadFormatError(f"format {name}: give 1 to {MOST_PATTERNS} templates or patterns")
    try:
        own: list[template.Template | OwnPattern] = [template.load(line) for line in lines]
    except template.BadTemplateError as error:
        raise BadFormatError(f"format {name}, {error}") from None
    own += [own_pattern(check(name, source), source) for source in sources]

    def read(line: str) -> LineFacts | None:
        line = line[:LONGEST_LINE]
        for one in own:
            facts = one.read(line) if one.tag in line else None
            if facts:
                return facts
        return None

    return Reader(name, tuple(dict.fromkeys(one.tag for one in own)), read)


@dataclass(frozen=True, slots=True)
class OwnPattern:
    """A pattern, and what its named groups are."""

    tag: str  # words that stand in every line it matches
    regex: re.Pattern[str]
    counts: tuple[str, ...]
    of_epoch: tuple[EpochNumber, ...]
    of_run: tuple[RunNumber, ...]
    words: tuple[str, ...]

    def read(self, line: str) -> LineFacts | None:
        match = self.regex.search(line)
        return facts_of(self, match) if match else None


def own_pattern(tag: str, source: str) -> OwnPattern:
    regex = re.compile(source)
    groups = regex.groupindex
    return OwnPattern(
        tag,
        regex,
        tuple(name for name in COUNTS if name in groups),
        tuple(name for name in EPOCH_NUMBERS if name in groups),
        tuple(name for name in RUN_NUMBERS if name in groups),
        tuple(name for name in WORDS if name in groups),
    )


def facts_of(pattern: OwnPattern, match: re.Match[str]) -> LineFacts | None:
    """What a match says; nothing, if a count is no count or no group took part in it."""
    counts: dict[str, int] = {}
    for group in pattern.counts:
        if (text := match[group]) is not None:
            number = count_of(text)
            if number is None:
                return None
            counts[group] = number
    numbers: EpochNumbers = {}
    for name in pattern.of_epoch:
        if (text := match[name]) is not None:
            numbers[name] = printed(text)  # percent, if one of the run's is above 1
    of_run: RunNumbers = {}
    for run_name in pattern.of_run:
        if (text := match[run_name]) is not None:
            of_run[run_name] = fraction(text) if run_name in ACCURACIES else printed(text)
    words = [word for word in pattern.words if match[word] is not None] if pattern.words else []
    if not (counts or numbers or of_run or words):
        return None
    run = None
    if of_run or words or "workers" in counts:
        run = RunFacts(
            of_run,
            workers=counts.get("workers"),
            job_id=match["job_id"] if "job_id" in words else None,
            done="done" in words,
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


def check(name: str, source: str) -> str:
    """The words by which lines for the pattern are found; BadFormatError if it is no good one."""
    problem = f"format {name}, pattern '{shortened(source, 80)}':"
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
