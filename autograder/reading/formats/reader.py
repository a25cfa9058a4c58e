"""The type of a reader, and the facts in the named groups of a reader's pattern."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeVar

from autograder.reading.line_facts import EPOCH_NUMBERS, RUN_NUMBERS, LineFacts, RunFacts
from autograder.reading.printed_numbers import clock, fraction, positive, printed, seconds_in
from autograder.records import Number

Name = TypeVar("Name", bound=str)
# Groups that capture whole numbers, with the field of LineFacts for each.
EPOCH_COUNTS = {"epoch": "number", "of": "of", "step": "step", "steps": "steps"}
RUN_COUNTS = ("workers", "of_workers", "batch", "batch_each", "rank")
TIMES = ("seconds", "total_seconds")
ABOVE_ZERO = ("total_seconds", "run_throughput")
CLOCK_PARTS = re.compile(r":|m ")  # 1:02:03 and 1m 7
NO_UNITS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True, eq=False)  # every reader is compared by identity
class Reader:
    format: str
    tags: tuple[str, ...]  # a line without any of these is not shown to the reader
    read: Callable[[str], LineFacts | None]
    after: str | None = None  # another format, whose headings also begin this one's epochs


def line_facts(
    match: re.Match[str], units: Mapping[str, str] = NO_UNITS, **facts: Any
) -> LineFacts:
    """Return the facts about an epoch that a pattern's groups captured.

    Each group is named after the fact that it captures. `facts` adds facts that apply to every
    matching line.
    """
    texts = match.groupdict()
    for name, fact in EPOCH_COUNTS.items():
        if texts.get(name):
            facts[fact] = int(texts[name])
    facts.setdefault("numbers", numbers_in(texts, EPOCH_NUMBERS, units))
    return LineFacts(**facts)


def run_facts(match: re.Match[str], units: Mapping[str, str] = NO_UNITS, **facts: Any) -> RunFacts:
    """Return the facts about a whole run that a pattern's groups captured."""
    texts = match.groupdict()
    for name in RUN_COUNTS:
        if texts.get(name):
            facts[name] = int(texts[name])
    facts["workers"] = facts.get("workers") or None
    return RunFacts(numbers_in(texts, RUN_NUMBERS, units), job_id=texts.get("job_id"), **facts)


def numbers_in(
    texts: Mapping[str, str | None], names: Iterable[Name], units: Mapping[str, str]
) -> dict[Name, Number | None]:
    """Return the numbers with these names.

    A number's unit comes from `units` or, failing that, from the group named `unit`.
    """
    return {
        name: number(name, text, units.get(name) or texts.get("unit") or "")
        for name in names
        if (text := texts.get(name))
    }


def number(name: str, text: str, unit: str) -> Number | None:
    """Return a printed number. Times are in seconds, and percentages are fractions of 1."""
    if unit == "%":
        return printed(text, 0.01)
    if name == "test_accuracy":
        return fraction(text)
    value = printed(text, seconds_in(unit) if name in TIMES else 1.0)
    if name in TIMES and value is None:
        hours, minutes, seconds = ["0", "", *CLOCK_PARTS.split(text)][-3:]
        value = clock(hours, minutes, seconds) if minutes else None
    return positive(value) if name in ABOVE_ZERO else value
