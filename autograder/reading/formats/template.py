"""Template lines, written as a program prints them, with fields in braces.

    formats:
      - name: ours
        templates: ['epoch {epoch} took {seconds} s, loss {train_loss}']

A rubric's formats, the presets and the signs of a job's end are templates. A field matches a value.
All other text has to match. Students control these lines, so reading must be quick for any input.
Each template becomes a pattern that never backtracks. A field always matches a number in full, and
`{any}` ends where the text after it first occurs.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from string import Formatter
from typing import NoReturn, TypeVar

from autograder.reading.line_facts import (
    ACCURACIES,
    EPOCH_NUMBERS,
    RUN_NUMBERS,
    LineFacts,
    Reader,
    RunFacts,
)
from autograder.reading.printed_numbers import UNITS, fraction, positive, printed, timed
from autograder.records import Number
from autograder.safe_text import shortened

EPOCH_COUNTS = {"epoch": "number", "of": "of", "step": "step", "steps": "steps"}
TIMES = ("seconds", "total_seconds")
COUNTS = (*EPOCH_COUNTS, "workers")
# They match no text: the line begins or ends an epoch, or ends the training; or it ends there.
MARKS = ("begins", "ends", "done", "end")
FIELDS = (*COUNTS, *EPOCH_NUMBERS, *RUN_NUMBERS, "job_id", "any", *MARKS)
LONGEST, MOST_FIELDS, MOST_ANY = 300, 20, 4
LONGEST_LINE = 1000  # maximum characters of a line that a template is tried on
MOST_TEMPLATES = 20
SHORTEST_TAG = 3

# What a field matches. Each pattern is atomic.
COUNT = r"(?>\d{1,11})(?!\d)"
# A comma is a decimal comma, unless it may separate thousands: 1,234 is not read.
DECIMAL = (
    r"(?![-+]?[1-9]\d{0,2},\d{3}(?!\d))"
    r"(?>[-+]?(?:\d{1,30}(?:[.,]\d{1,30})?|\.\d{1,30})(?:[eE][-+]?\d{1,3})?|[Nn]a[Nn]|-?[Ii]nf)"
    r"(?!\d)"
)
CLOCK = r"(?>(?:\d{1,5}:)?\d{1,5}:\d{2}(?:\.\d{1,9})?)(?!\d)"
NO_MORE = r"(?![.,:]?\d)"  # if nothing follows in the template: 1.2 in version 1.2.3 is no number
UNIT = re.compile(r"\s*(%|[A-Za-zµ]+)")
# After a time, if the template ends there: no word but seconds, no 1-03:00 and no 3'20.
IN_SECONDS = r"(?![-'’]\d|\s*+(?:/|[(\[]?(?!(?i:s|secs?|seconds?)\b(?!\s*/))[^\W\d]))"
# A sign that the template lacks: 97.3 % is read, but 0.97 % may be meant as 97 %.
PERCENT = rf"(?:{DECIMAL}(?!\s?%)|(?=[2-9]|1\d){DECIMAL}\s?%)"
BLANKS = re.compile(r"\s+")
ANYWHERE = r"(?<![\w.])"  # `loss {train_loss}` must not match in `val_loss 0.5`
# A line may begin with marks, a time and a log's level.
AT_BEGIN = r"^[^A-Za-z]{0,40}?(?:[A-Z]{4,8}\b[^A-Za-z]{1,20})?"


class BadTemplateError(ValueError):
    """A template that cannot be used. Authors of rubrics read the message."""


@dataclass(frozen=True, slots=True)
class Template:
    """A compiled template line."""

    tag: str  # a word that every matching line contains
    regex: re.Pattern[str]
    units: dict[str, str]  # the unit that follows a field, as in `{seconds} ms`
    marks: set[str]

    def match(self, line: str) -> re.Match[str] | None:
        return self.regex.search(line) if self.tag in line else None


def load_reader(name: str, sources: Iterable[str], begin: str = ANYWHERE) -> Reader:
    """Return a reader of lines that match any of the templates.

    Raise BadTemplateError if a template cannot be used.
    """
    longest_first = sorted(sources, key=len, reverse=True)  # `test loss {…}` before `loss {…}`
    if not 0 < len(longest_first) <= MOST_TEMPLATES:
        raise BadTemplateError(f"format {name}: give 1 to {MOST_TEMPLATES} templates")
    try:
        templates = [load(source, begin) for source in longest_first]
    except BadTemplateError as error:
        raise BadTemplateError(f"format {name}, {error}") from None

    def read(line: str) -> LineFacts | None:
        line = line[:LONGEST_LINE]
        return facts_of([(t, match) for t in templates if (match := t.match(line))])

    return Reader(name, tuple(dict.fromkeys(template.tag for template in templates)), read)


def load(source: str, begin: str = ANYWHERE, is_sign: bool = False) -> Template:
    """Compile a template, or a sign of a job's end. Raise BadTemplateError if it cannot be used."""
    texts, fields, marks, units = parts_of(source)
    if not is_sign:
        check_fields(texts, fields, marks, source)
    for field, after in zip(fields, texts[1:], strict=True):
        unit = UNIT.match(after)
        known = {"%"} if field in ACCURACIES else UNITS if field in TIMES else ()
        if unit and unit[1].lower() in known:
            units[field] = unit[1]
    tag = max((word for text in texts for word in text.split()), key=len, default="")
    if len(tag) < SHORTEST_TAG:
        words = f"a word of {SHORTEST_TAG} or more characters outside of the braces"
        refuse(source, f"it needs {words}, so that its lines can be found")
    end = r"\s*$" if "end" in marks else ""
    return Template(tag, re.compile(pattern_of(texts, fields, units, begin) + end), units, marks)


# --- what matching lines say ----------------------------------------------------------------------


def facts_of(matches: list[tuple[Template, re.Match[str]]]) -> LineFacts | None:
    """Return the facts of a line. Templates after the first only add what no earlier one read."""
    texts: dict[str, str] = {}
    units: dict[str, str] = {}
    marks: set[str] = set()
    taken: set[int] = set()
    for template, match in matches:
        marks |= template.marks
        starts = {name: match.start(name) for name in match.groupdict()}
        for name, start in starts.items():
            if start not in taken and name not in texts:
                texts[name] = match[name].rstrip("% ")
                units[name] = template.units.get(name, match[name][len(texts[name]) :].strip())
        taken.update(starts.values())
    run = RunFacts(
        numbers_in(texts, RUN_NUMBERS, units),
        workers=int(texts.get("workers", 0)) or None,
        job_id=texts.get("job_id"),
        done="done" in marks,
    )
    numbers = numbers_in(texts, EPOCH_NUMBERS, units)
    if "ends" in marks:
        texts.pop("step", None)
    facts = LineFacts(
        opens="begins" in marks and not (numbers or "step" in texts or "ends" in marks),
        closes="ends" in marks,
        scaled="%" in units.values(),
        numbers=numbers,
        run=run,
        **{fact: int(texts[name]) for name, fact in EPOCH_COUNTS.items() if name in texts},
    )
    return None if facts == LineFacts() else facts


Name = TypeVar("Name", bound=str)


def numbers_in(
    texts: Mapping[str, str], names: Iterable[Name], units: Mapping[str, str]
) -> dict[Name, Number | None]:
    return {name: number(name, texts[name], units[name]) for name in names if name in texts}


def number(name: str, text: str, unit: str) -> Number | None:
    """Return a printed number. Times are in seconds, and percentages are fractions of 1."""
    if unit == "%":
        return printed(text, 0.01)
    if name == "test_accuracy":
        return fraction(text)
    value = timed(text, unit) if name in TIMES else printed(text)
    return positive(value) if name in ("total_seconds", "run_throughput") else value


# --- what a template says -------------------------------------------------------------------------


def parts_of(source: str) -> tuple[list[str], list[str], set[str], dict[str, str]]:
    """Return a template's literal texts, the fields between them, its marks, and `%` units.

    There is always one more text than there are fields; the first and the last may be empty.
    """
    if len(source) > LONGEST:
        refuse(source, f"it is longer than {LONGEST} characters")
    if "\n" in source.strip("\n"):
        refuse(
            source, "it has several lines: write one template for each line that the program prints"
        )
    texts, fields, marks, units = [""], [], set(), {}
    try:
        parsed = list(Formatter().parse(source.strip()))
    except ValueError:
        refuse(source, "a brace is not closed. Write {{ and }} for printed braces")
    for text, name, form, conversion in parsed:
        texts[-1] += text
        field = (name or "").strip()
        if form == "%" and field in ACCURACIES:  # a percentage that is printed without the sign
            units[field] = "%"
        elif form or conversion:
            field += ("!" if conversion else "") + (f":{form}" if form else "")
        if field in MARKS:
            marks.add(field)
        elif name is not None:
            fields.append(field)
            texts.append("")
    return texts, fields, marks, units


def check_fields(texts: list[str], fields: list[str], marks: set[str], source: str) -> None:
    for name in fields:
        if name not in FIELDS:
            known = ", ".join(FIELDS)
            refuse(source, f"no field is called {{{shortened(name, 30)}}}; there are: {known}")
        if name != "any" and fields.count(name) > 1:
            refuse(source, f"{{{name}}} appears twice; write {{any}} for text that you do not need")
    if marks <= {"end"} and set(fields) <= {"any"}:
        refuse(source, "it has no field such as {epoch} or {train_loss}")
    if len(fields) > MOST_FIELDS or fields.count("any") > MOST_ANY:
        refuse(source, f"it has more than {MOST_FIELDS} fields, or {MOST_ANY} times {{any}}")
    if "begins" in marks and (
        marks & {"ends", "done"} or not set(fields) <= {"epoch", "of", "any"}
    ):
        refuse(source, "a line with {begins} may have the epoch's number, but no results")
    if "ends" in marks and "step" in fields:
        refuse(source, "a line with {ends} cannot be one of several steps")
    for place, text in enumerate(texts[1:-1]):
        if not text:
            pair = f"{{{fields[place]}}}{{{fields[place + 1]}}}"
            refuse(source, f"{pair}: there has to be text between two fields")
    if ("", "any") in ((texts[0], *fields[:1]), (texts[-1], *fields[-1:])):
        refuse(source, "{any} must be between other parts; leave it out at an end")


def pattern_of(texts: list[str], fields: list[str], units: dict[str, str], begin: str) -> str:
    """Return a regular expression that never retries anything at the same position in a line.

    A template matches only whole words and numbers. A number may be padded with blanks.
    """
    first, last = texts[0][:1], texts[-1][-1:]
    pieces = [begin if begin != ANYWHERE or not first or is_of_word(first) else ""]
    pieces[0] += "" if first else r"(?<!\d[,:-])"  # 234.5 in 1,234.5 is no number
    waits = False  # {any} ends where the text after it begins
    for text, name, after in zip_longest(texts, fields, texts[1:]):
        words = r"[ \t]++".join(map(re.escape, BLANKS.split(text)))
        if text.startswith("%"):
            words = rf"[ \t]?{words}"
        pieces.append(rf"(?>.{{0,100}}?{words})" if waits else words)
        waits = name == "any"
        if name and not waits:
            pad = r"[ \t]*+" if any(pieces[1:]) else ""
            value = value_of(name, name in units, bool(after.strip()))
            if "," in (text[-1:], after):  # it separates fields, so it is no decimal comma
                value = value.replace("[.,]", "[.]")
            pieces.append(rf"{pad}(?P<{name}>{value})")
    pieces.append(NO_MORE if not last else r"(?!\w)" if is_of_word(last) else "")
    return "".join(pieces)


def is_of_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def value_of(name: str, has_unit: bool, is_followed: bool) -> str:
    if name in COUNTS:
        return COUNT
    if name == "job_id":
        return r"(?>\d\w{0,39})"
    if name == "status":  # only in the signs of an end
        return r"(?>[1-9]\d{0,4})(?!\d)"
    if name in TIMES:
        return rf"(?:{CLOCK}|{DECIMAL})" + ("" if has_unit or is_followed else IN_SECONDS)
    return PERCENT if name in ACCURACIES and not has_unit else DECIMAL


def refuse(source: str, reason: str) -> NoReturn:
    raise BadTemplateError(f"template '{shortened(source, 80)}': {reason}")
