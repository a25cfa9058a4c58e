"""Formats that a rubric defines with template lines, written as the program prints them.

    formats:
      - name: ours
        templates: ['epoch {epoch} took {seconds} s, loss {train_loss}']

A field in braces matches a value. All other text has to match. Students control these lines, so
reading must be quick for any input. Each template becomes a pattern that never backtracks. A field
always matches a number in full, and `{any}` ends where the text after it first occurs.
"""

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import zip_longest
from string import Formatter
from typing import NoReturn

from autograder.reading.formats.reader import EPOCH_COUNTS, TIMES, Reader, line_facts, run_facts
from autograder.reading.line_facts import (
    ACCURACIES,
    EPOCH_NUMBERS,
    NOTHING,
    RUN_NUMBERS,
    LineFacts,
)
from autograder.reading.printed_numbers import UNITS
from autograder.safe_text import shortened

COUNTS = (*EPOCH_COUNTS, "workers")
MARKS = ("begins", "done")  # they match no text: the line begins an epoch, or ends the training
FIELDS = (*COUNTS, *EPOCH_NUMBERS, *RUN_NUMBERS, "job_id", "any", *MARKS)
LONGEST, MOST_FIELDS, MOST_ANY = 300, 20, 4
LONGEST_LINE = 1000  # maximum characters of a line that a template is tried on
MOST_TEMPLATES = 20
SHORTEST_TAG = 3

# What a field matches. Each pattern is atomic.
COUNT = r"(?>\d{1,11})(?!\d)"
DECIMAL = (
    r"(?>[-+]?(?:\d{1,30}(?:\.\d{1,30})?|\.\d{1,30})(?:[eE][-+]?\d{1,3})?|[Nn]a[Nn]|-?[Ii]nf)"
    r"(?!\d)"
)
CLOCK = r"(?>(?:\d{1,5}:)?\d{1,5}:\d{2}(?:\.\d{1,9})?)(?!\d)"
NO_MORE = r"(?![.,:]?\d)"  # if nothing follows in the template: 1.2 in version 1.2.3 is no number
SECONDS = ("s", "sec", "secs", "seconds")
UNIT = re.compile(r"\s*(%|[A-Za-zµ]+)")
# What follows a time whose unit the template does not name.
NO_OTHER_UNIT = r"(?!\s?(?:[mµun]s|m|min|mins|minutes?|h|hours?|s?/)\b)"
BLANKS = re.compile(r"\s+")


class BadTemplateError(ValueError):
    """A template that cannot be used. Authors of rubrics read the message."""


@dataclass(frozen=True, slots=True)
class Template:
    """A compiled template line."""

    tag: str  # a word that every matching line contains
    regex: re.Pattern[str]
    units: dict[str, str]  # the unit that follows a field, as in `{seconds} ms`
    marks: set[str]

    def read(self, line: str) -> LineFacts | None:
        match = self.regex.search(line)
        if match is None:
            return None
        run = run_facts(match, self.units, done="done" in self.marks)
        facts = line_facts(
            match,
            self.units,
            opens="begins" in self.marks,
            scaled="%" in self.units.values(),
            run=None if run == NOTHING else run,
        )
        return None if facts == LineFacts() else facts


def load_reader(name: str, sources: Iterable[str]) -> Reader:
    """Return a reader that tries the templates on each line, the longest first.

    Raise BadTemplateError if a template cannot be used.
    """
    longest_first = sorted(sources, key=len, reverse=True)  # `test loss {…}` before `loss {…}`
    if not 0 < len(longest_first) <= MOST_TEMPLATES:
        raise BadTemplateError(f"format {name}: give 1 to {MOST_TEMPLATES} templates")
    try:
        templates = [load(source) for source in longest_first]
    except BadTemplateError as error:
        raise BadTemplateError(f"format {name}, {error}") from None

    def read(line: str) -> LineFacts | None:
        line = line[:LONGEST_LINE]
        for template in templates:
            facts = template.read(line) if template.tag in line else None
            if facts:
                return facts
        return None

    return Reader(name, tuple(dict.fromkeys(template.tag for template in templates)), read)


def load(source: str) -> Template:
    """Compile a template. Raise BadTemplateError if the template cannot be used."""
    texts, fields, marks = parts_of(source)
    check_fields(texts, fields, marks, source)
    tag = max((word for text in texts for word in text.split()), key=len, default="")
    if len(tag) < SHORTEST_TAG:
        refuse(
            source,
            f"it needs a word of {SHORTEST_TAG} or more characters outside of the braces, so that "
            "its lines can be found",
        )
    units = {}
    for field, after in zip(fields, texts[1:], strict=True):
        unit = UNIT.match(after)
        known = {"%"} if field in ACCURACIES else {*UNITS, *SECONDS} if field in TIMES else ()
        if unit and unit[1] in known:
            units[field] = unit[1]
    return Template(tag, re.compile(pattern_of(texts, fields, units)), units, marks)


def parts_of(source: str) -> tuple[list[str], list[str], set[str]]:
    """Return a template's literal texts, the fields between them, and its markers.

    There is always one more text than there are fields; the first and the last may be empty.
    Markers match no text.
    """
    if len(source) > LONGEST:
        refuse(source, f"it is longer than {LONGEST} characters")
    if "\n" in source.strip("\n"):
        refuse(
            source, "it has several lines: write one template for each line that the program prints"
        )
    texts, fields, marks = [""], [], set()
    try:
        parsed = list(Formatter().parse(source.strip()))
    except ValueError:
        refuse(source, "a brace is not closed. Write {{ and }} for printed braces")
    for text, name, form, conversion in parsed:
        texts[-1] += text
        field = ((name or "") + ("!" if conversion else "") + (f":{form}" if form else "")).strip()
        if field in MARKS:
            marks.add(field)
        elif name is not None:
            fields.append(field)
            texts.append("")
    return texts, fields, marks


def check_fields(texts: list[str], fields: list[str], marks: set[str], source: str) -> None:
    for name in fields:
        if name not in FIELDS:
            near = difflib.get_close_matches(name, FIELDS, 1)
            hint = f"did you mean {{{near[0]}}}?" if near else f"there are: {', '.join(FIELDS)}"
            refuse(source, f"no field is called {{{shortened(name, 30)}}}; {hint}")
        if name != "any" and fields.count(name) > 1:
            refuse(source, f"{{{name}}} appears twice; write {{any}} for text that you do not need")
    if not marks and set(fields) <= {"any"}:
        refuse(source, "it has no field such as {epoch} or {train_loss}")
    if len(fields) > MOST_FIELDS or fields.count("any") > MOST_ANY:
        refuse(source, f"it has more than {MOST_FIELDS} fields, or {MOST_ANY} times {{any}}")
    if "begins" in marks and ("done" in marks or not set(fields) <= {"epoch", "of", "any"}):
        refuse(source, "a line with {begins} may have the epoch's number, but no results")
    for place, text in enumerate(texts[1:-1]):
        if not text:
            both = f"{{{fields[place]}}}{{{fields[place + 1]}}}"
            refuse(source, f"{both}: there has to be text between two fields")
    if ("", "any") in ((texts[0], *fields[:1]), (texts[-1], *fields[-1:])):
        refuse(source, "{any} must be between other parts; leave it out at an end")


def pattern_of(texts: list[str], fields: list[str], units: dict[str, str]) -> str:
    """Return a regular expression that never retries anything at the same position in a line.

    A template matches only whole words and numbers: `loss {train_loss}` must not match in
    `val_loss 0.5`.
    """
    first, last = texts[0][:1], texts[-1][-1:]
    pieces = [r"(?<![\w.])" if not first or is_of_word(first) else ""]
    waits = False  # {any} ends where the text after it begins
    for text, name in zip_longest(texts, fields):
        words = r"[ \t]++".join(map(re.escape, BLANKS.split(text)))
        pieces.append(rf"(?>.{{0,100}}?{words})" if waits else words)
        waits = name == "any"
        if name and not waits:
            pieces.append(rf"(?P<{name}>{value_of(name, name in units)})")
    pieces.append(NO_MORE if not last else r"(?!\w)" if is_of_word(last) else "")
    return "".join(pieces)


def is_of_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def value_of(name: str, with_unit: bool) -> str:
    if name in COUNTS:
        return COUNT
    if name == "job_id":
        return r"(?>\w{1,40})"
    if name in TIMES:
        return rf"(?:{CLOCK}|{DECIMAL})" + ("" if with_unit else NO_OTHER_UNIT)
    return DECIMAL


def refuse(source: str, reason: str) -> NoReturn:
    raise BadTemplateError(f"template '{shortened(source, 80)}': {reason}")
