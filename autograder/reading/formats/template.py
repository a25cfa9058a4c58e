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
from itertools import pairwise
from typing import NoReturn

from autograder.reading.formats.reader import Reader
from autograder.reading.line_facts import (
    ACCURACIES,
    EPOCH_NUMBERS,
    RUN_NUMBERS,
    LineFacts,
    RunFacts,
)
from autograder.reading.printed_numbers import UNITS, clock, fraction, printed, seconds_in
from autograder.records import Number
from autograder.safe_text import shortened

COUNTS = ("epoch", "of", "step", "steps", "workers")
TIMES = ("seconds", "total_seconds")
MARKS = ("begins", "done")  # they match no text: the line begins an epoch, or ends the training
NUMBERS = (*EPOCH_NUMBERS, *RUN_NUMBERS)
FIELDS = (*COUNTS, *NUMBERS, "job_id", "any", *MARKS)
LONGEST, MOST_FIELDS, MOST_ANY = 300, 20, 4
LONGEST_LINE = 1000  # maximum characters of a line that a template is tried on
MOST_TEMPLATES = 20
SHORTEST_TAG = 3
PART = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]|[^{}]+")

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


class BadTemplateError(ValueError):
    """A template that cannot be used. Authors of rubrics read the message."""


@dataclass(frozen=True, slots=True)
class Template:
    """A compiled template line."""

    tag: str  # words that every matching line contains
    regex: re.Pattern[str]
    scales: dict[str, float]  # scale of each field, from the unit that follows it
    percent: frozenset[str]
    marks: set[str]

    def read(self, line: str) -> LineFacts | None:
        found = self.regex.search(line)
        return facts_of(self, found.groupdict()) if found else None


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
    parts, marks = parts_of(source)
    tag = tag_of(parts, source)
    scales, percent = units_of(parts)
    pattern = re.compile(pattern_of(parts, {*scales, *percent}))
    return Template(tag, pattern, scales, percent, marks)


Parts = list[tuple[str, bool]]  # plain text, or a field's name and True


def parts_of(source: str) -> tuple[Parts, set[str]]:
    """Return a template's parts and its marks, which match no text."""
    if len(source) > LONGEST:
        refuse(source, f"it is longer than {LONGEST} characters")
    if "\n" in source.strip("\n"):
        refuse(
            source, "it has several lines: write one template for each line that the program prints"
        )
    parts: Parts = []
    marks = set()
    for match in PART.finditer(source.strip()):
        text, name = match[0], match[1]
        if text in ("{", "}"):
            refuse(source, "a brace is not closed. Write {{ and }} for printed braces")
        if name is None:
            plain = {"{{": "{", "}}": "}"}.get(text, text)
            if parts and not parts[-1][1]:
                plain = parts.pop()[0] + plain
            parts.append((plain, False))
        elif name.strip() in MARKS:
            marks.add(name.strip())
        else:
            parts.append((name.strip(), True))
    check_fields(parts, marks, source)
    return parts, marks


def check_fields(parts: Parts, marks: set[str], source: str) -> None:
    names = [name for name, is_field in parts if is_field]
    for name in names:
        if name not in FIELDS:
            near = difflib.get_close_matches(name, FIELDS, 1)
            hint = f"did you mean {{{near[0]}}}?" if near else f"there are: {', '.join(FIELDS)}"
            refuse(source, f"no field is called {{{shortened(name, 30)}}}; {hint}")
        if name != "any" and names.count(name) > 1:
            refuse(source, f"{{{name}}} appears twice; write {{any}} for text that you do not need")
    if not marks and set(names) <= {"any"}:
        refuse(source, "it has no field such as {epoch} or {train_loss}")
    if len(names) > MOST_FIELDS or names.count("any") > MOST_ANY:
        refuse(source, f"it has more than {MOST_FIELDS} fields, or {MOST_ANY} times {{any}}")
    if "begins" in marks and ("done" in marks or not set(names) <= {"epoch", "of", "any"}):
        refuse(source, "a line with {begins} may have the epoch's number, but no results")
    for (one, first), (other, second) in pairwise(parts):
        if first and second:
            refuse(source, f"{{{one}}}{{{other}}}: there has to be text between two fields")
    if ("any", True) in (*parts[:1], *parts[-1:]):
        refuse(source, "{any} must be between other parts; leave it out at an end")


def units_of(parts: Parts) -> tuple[dict[str, float], frozenset[str]]:
    """Return the units that follow fields, as in `{seconds} ms` or `{val_accuracy}%`."""
    scales, percent = {}, set()
    for (name, is_field), (after, _) in pairwise(parts):
        unit = UNIT.match(after)
        if not is_field or not unit:
            continue
        if name in ACCURACIES and unit[1] == "%":
            percent.add(name)
        elif name in TIMES and unit[1] in (*UNITS, *SECONDS):
            scales[name] = seconds_in(unit[1])
    return scales, frozenset(percent)


def pattern_of(parts: Parts, with_unit: set[str]) -> str:
    """Return a regular expression that never retries anything at the same position in a line."""
    pieces = [r"(?<![\w.])"] if starts_word(parts) else []
    waits = False  # {any} ends where the text after it begins
    for name, is_field in parts:
        if not is_field:
            text = literal(name)
            pieces.append(rf"(?>.{{0,100}}?{text})" if waits else text)
            waits = False
        elif name == "any":
            waits = True
        else:
            pieces.append(rf"(?P<{name}>{value_of(name, name in with_unit)})")
    last, is_field = parts[-1]
    if is_field:
        pieces.append(NO_MORE)
    elif last[-1].isalnum() or last[-1] == "_":
        pieces.append(r"(?!\w)")
    return "".join(pieces)


def starts_word(parts: Parts) -> bool:
    """Return whether a template may match only at the beginning of a word.

    `loss {train_loss}` must not match in `val_loss 0.5`.
    """
    name, is_field = parts[0]
    return is_field or name[0].isalnum() or name[0] == "_"


def literal(text: str) -> str:
    """Return a pattern for plain text, in which blanks match any number of blanks."""
    words = [re.escape(word) for word in text.split()]
    middle = r"[ \t]++".join(words)
    before = r"[ \t]++" if text[0].isspace() else ""
    after = r"[ \t]++" if text[-1].isspace() and words else ""
    return before + middle + after


def value_of(name: str, with_unit: bool) -> str:
    if name in COUNTS:
        return COUNT
    if name == "job_id":
        return r"(?>\w{1,40})"
    if name in TIMES:
        return rf"(?:{CLOCK}|{DECIMAL})" + ("" if with_unit else NO_OTHER_UNIT)
    return DECIMAL


def tag_of(parts: Parts, source: str) -> str:
    """Return the longest word that every matching line contains."""
    words = [word for text, is_field in parts if not is_field for word in text.split()]
    tag = max(words, key=len, default="")
    if len(tag) < SHORTEST_TAG:
        refuse(
            source,
            f"it needs a word of {SHORTEST_TAG} or more characters outside of the braces, so that "
            "its lines can be found",
        )
    return tag


def facts_of(template: Template, groups: dict[str, str]) -> LineFacts | None:
    counts = {name: int(groups[name]) for name in COUNTS if name in groups}
    run = RunFacts(
        {name: number_of(template, name, groups[name]) for name in RUN_NUMBERS if name in groups},
        workers=counts.get("workers") or None,
        job_id=groups.get("job_id"),
        done="done" in template.marks,
    )
    facts = LineFacts(
        counts.get("epoch"),
        of=counts.get("of"),
        opens="begins" in template.marks,
        step=counts.get("step"),
        steps=counts.get("steps"),
        scaled=bool(template.percent),
        numbers={
            name: number_of(template, name, groups[name])
            for name in EPOCH_NUMBERS
            if name in groups
        },
        run=None if run == RunFacts() else run,
    )
    return None if facts == LineFacts() else facts


def number_of(template: Template, name: str, text: str) -> Number | None:
    if name in template.percent:
        return printed(text, 0.01)
    if name == "test_accuracy":
        return fraction(text)
    if name in TIMES and ":" in text:
        return clock(*["0", *text.split(":")][-3:])
    return printed(text, template.scales.get(name, 1.0))


def refuse(source: str, reason: str) -> NoReturn:
    raise BadTemplateError(f"template '{shortened(source, 80)}': {reason}")
