r"""Formats that a course's rubric brings: named regular expressions for its own program's lines.

    formats:
      - name: ours
        line: 'epoch (?P<epoch>\d+) done in (?P<seconds>[\d.]+) s, loss (?P<train_loss>[\d.]+)'

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


def runaway(tree: Any) -> str | None:
    """Why some line could keep the pattern busy for long."""
    for code, value in nodes(tree):
        if code in (op.GROUPREF, op.GROUPREF_EXISTS):
            return "a group may not be repeated by reference"
        if code in (op.ASSERT, op.ASSERT_NOT):
            return "it may not look ahead or behind"
        if code in REPEATS and value[1] > 1:
            inner = {code for code, _ in nodes(value[2])}
            if inner & {*REPEATS, op.BRANCH}:
                return "what is repeated may not hold a repetition or a choice, as in (a+)+"
    if steps(flat(tree)) > MOST_STEPS:
        return (
            "a line could keep it busy for too long, because parts of it that match many "
            "characters follow each other; say how many there may be, as in \\d{1,6} and .{0,40}"
        )
    return None


LONGEST_LINE = 1000  # characters of a line that these patterns see
MOST_STEPS = 10_000_000  # about a tenth of a second
REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT)


def steps(items: list[tuple[Any, Any]]) -> int:
    """Steps of the worst line, roughly. A repetition that ends where the next part cannot begin
    has one way to match; of others every length is tried, with every length of those after."""
    ways, longest = 1, 1
    for place, (code, value) in enumerate(items):
        if code is op.BRANCH:
            ways *= len(value[1]) * max(steps(flat(branch)) // LONGEST_LINE for branch in value[1])
        if code not in REPEATS or value[0] == value[1]:
            continue
        most = min(int(value[1]), LONGEST_LINE)
        after = first(items[place + 1 :])
        if after is None:
            continue
        if after & (first(flat(value[2])) or ANYTHING):
            ways *= most
        else:
            longest = max(longest, most)
    words = 0
    while words < len(items) and items[words][0] is op.LITERAL:
        words += 1
    return LONGEST_LINE // max(words, 1) * ways * longest


# ASCII, and a digit, a blank, a letter and a mark for all the rest
SAMPLES = [*map(chr, range(128)), "\u0663", "\u2003", "\u00e9", "\u2014"]
ANYTHING = frozenset(range(len(SAMPLES)))
BEYOND_ASCII = frozenset(range(128, len(SAMPLES)))


def first(items: list[tuple[Any, Any]]) -> frozenset[int] | None:
    """The characters with which these parts can begin; None if they can be nothing at all."""
    found: frozenset[int] = frozenset()
    for code, value in items:
        if code is op.AT:
            continue
        if code in REPEATS:
            found |= first(flat(value[2])) or ANYTHING
            if value[0] == 0:
                continue
            return found
        if code is op.BRANCH:
            branches = [first(flat(branch)) for branch in value[1]]
            for characters in branches:
                found |= characters or ANYTHING
            if None in branches:
                continue
            return found
        return found | characters_of(code, value)
    return None


def characters_of(code: Any, value: Any) -> frozenset[int]:
    if code is op.LITERAL:
        return frozenset([value]) if value < 128 else BEYOND_ASCII
    if code is op.RANGE:
        ascii_ = frozenset(range(value[0], min(value[1], 127) + 1))
        return ascii_ | BEYOND_ASCII if value[1] > 127 else ascii_
    if code is op.CATEGORY:
        return CATEGORIES.get(value, ANYTHING)
    if code is op.IN:
        negated = value[0][0] is op.NEGATE
        named = [characters_of(*item) for item in value if item[0] is not op.NEGATE]
        found = frozenset[int]().union(*named)
        if not negated:
            return found
        only_samples = any(item[0] is not op.CATEGORY for item in value[1:])
        return ANYTHING - (found - BEYOND_ASCII if only_samples else found)
    return ANYTHING


def matching(pattern: str) -> frozenset[int]:
    return frozenset(place for place, sample in enumerate(SAMPLES) if re.match(pattern, sample))


CATEGORIES = {
    op.CATEGORY_DIGIT: matching(r"\d"),
    op.CATEGORY_NOT_DIGIT: matching(r"\D"),
    op.CATEGORY_SPACE: matching(r"\s"),
    op.CATEGORY_NOT_SPACE: matching(r"\S"),
    op.CATEGORY_WORD: matching(r"\w"),
    op.CATEGORY_NOT_WORD: matching(r"\W"),
}


def flat(tree: Any) -> list[tuple[Any, Any]]:
    """The parts of a pattern one after the other, groups opened."""
    parts: list[tuple[Any, Any]] = []
    for code, value in tree:
        if code is op.SUBPATTERN:
            parts += flat(value[3])
        elif code is op.ATOMIC_GROUP:
            parts += flat(value)
        else:
            parts.append((code, value))
    return parts


def nodes(tree: Any) -> Iterable[tuple[Any, Any]]:
    """Every part of a pattern, at any depth."""
    for code, value in tree:
        yield code, value
        if code in REPEATS or code is op.POSSESSIVE_REPEAT:
            yield from nodes(value[2])
        elif code is op.SUBPATTERN:
            yield from nodes(value[3])
        elif code is op.BRANCH:
            for branch in value[1]:
                yield from nodes(branch)
        elif code is op.ATOMIC_GROUP:
            yield from nodes(value)


def longest_word(tree: Any) -> str:
    """The longest run of plain characters that every match must have."""
    best = word = ""
    for code, value in flat(tree):
        word = word + chr(value) if code is op.LITERAL else ""
        best = max(best, word, key=len)
    return best
