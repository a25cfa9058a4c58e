"""Read answers.txt: `id = value` lines with predictions, numbers and one-word answers.

# Lesson 02
predict_accuracy = 0.97
keras_epoch_s = 0.91

Other forms are accepted if they are unambiguous: `id: value`, list dashes, JSON, quotes, or a
pasted `answers.note(…)`. Any other line is kept and shown beside the question that it may answer.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from autograder.codes import FindingCode
from autograder.records import Where
from autograder.safe_text import shortened
from autograder.submissions.answer_values import QUOTES, unquoted
from autograder.submissions.doubts import Doubt, finding_of
from autograder.submissions.regular_files import open_regular, start_of, unreadable, why
from autograder.verdict import Finding

MAX_BYTES = 1_000_000
MOST_ASIDE = 50_000  # largest answers file under another name
ID = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}\Z")
MOST_UNREAD = 50  # unreadable lines that are kept to be shown

LISTED = re.compile(r"(?:[-*•–]|\d{1,2}[.)])\s+")  # a list's marker, which a space follows
NAMED = re.compile(
    rf"[{QUOTES}*_]{{0,3}}(?P<key>[A-Za-z](?:[A-Za-z0-9_.-]{{0,62}}[A-Za-z0-9_])?)[{QUOTES}*]{{0,3}}"
)
EQUALS = re.compile(r"\s*=+\s*")
LOOSELY = re.compile(r"\s*(?::=?|->|→|=>|[,;|\t]|(?=\s)(?:\s+is|\s+ist)?(?=\s))\s*")
CALL = re.compile(r"\bnote\s*\((?P<inside>.*)\)?\s*;?\Z")
FILE = re.compile(r"\A\s*(?:\"[^\"]*\"|'[^']*')\s*,")  # the first argument may be a file name
PART = re.compile(
    r"\s*(?P<key>[A-Za-z]\w{0,63})\s*=\s*"
    r"(?P<value>\"[^\"]*\"|'[^']*'|[+-]?[\d.][\w.+-]*|True|False)\s*(?:,|\)|\Z)"
)
ENDS = re.compile(r"[) ;]*+\Z")


@dataclass(frozen=True, slots=True)
class WrittenAnswer:
    """One answer as the student wrote it."""

    text: str
    where: Where
    differs: str = ""  # the different values if files disagree; then `text` is empty


class Line(NamedTuple):
    """A line of an answers file."""

    where: Where
    text: str
    pairs: list[tuple[str, str]]  # the ids and values in it
    is_exact: bool  # whether it has the form `id = value`


def read_answers(
    path: Path, name: str, ids: Collection[str] = (), unread: list[WrittenAnswer] | None = None
) -> tuple[dict[str, WrittenAnswer], list[Finding]]:
    try:
        with open_regular(path) as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        return {}, [unreadable(name, why(error))]
    if len(data) > MAX_BYTES:
        doubt = Doubt(FindingCode.ANSWERS_TOO_LARGE, "", f"more than {MAX_BYTES:,} bytes")
        return {}, [finding_of(doubt, [Where(name, 1)])]
    return parse_answers(data, name, ids, unread)


def parse_answers(
    data: bytes, name: str, ids: Collection[str] = (), unread: list[WrittenAnswer] | None = None
) -> tuple[dict[str, WrittenAnswer], list[Finding]]:
    """Return the answers by id.

    If an id has two different values, the question counts as unanswered and is reported.

    `ids` are the ids of all questions. A line that begins with one of them answers it, whatever
    separates id and value. If an id has a line `id = value`, its lines in other forms are ignored.
    Lines that cannot be read are also added to `unread`.
    """
    answers: dict[str, WrittenAnswer] = {}
    twice: dict[str, Where] = {}
    findings = []
    lines = list(lines_of(text_of(data), name, ids))
    exact = {key: value for line in lines if line.is_exact for key, value in line.pairs}
    for line in lines:
        differs = any(exact.get(key, value) != value for key, value in line.pairs)
        if not line.pairs or (differs and not line.is_exact):
            if unread is not None and len(unread) < MOST_UNREAD:
                unread.append(WrittenAnswer(line.text, line.where))
            doubt = Doubt(FindingCode.ANSWER_LINE_UNREAD, "", shortened(line.text, 80))
            findings.append(finding_of(doubt, [line.where]))
            continue
        for key, value in line.pairs:
            if answers.setdefault(key, WrittenAnswer(value, line.where)).text != value:
                twice[key] = line.where
    doubt = Doubt(FindingCode.ANSWERED_TWICE, "", "two different values, so neither counts")
    for key, where in twice.items():
        findings.append(finding_of(doubt, (answers.pop(key).where, where), name=key))
    return answers, findings


def text_of(data: bytes) -> str:
    return data.decode("utf-8-sig", "replace")


def holds_answers(path: Path, ids: Collection[str]) -> bool:
    """Return whether a file with another name holds answers.

    More than half of its lines must answer known questions, and at least two different ones.
    """
    data = start_of(path, MOST_ASIDE + 1)  # an error is reported when the file is read
    if len(data) > MOST_ASIDE:
        return False
    lines = list(lines_of(text_of(data), path.name, ()))
    known = [key for line in lines if line.is_exact for key, _ in line.pairs if key in ids]
    return len({*known}) > 1 and 2 * len(known) > len(lines)


def lines_of(text: str, name: str, ids: Collection[str]) -> Iterator[Line]:
    """Yield each line that is neither blank nor a comment, with the answers in it."""
    lines = re.split(r"\r\n|\n|\r", text)
    for number, raw in enumerate(lines, start=1):
        line = raw.split("#", 1)[0].strip()
        if not line:
            continue
        key, sign, value = (part.strip() for part in line.partition("="))
        is_exact = bool(sign and ID.match(key))
        found = [(key, value.lstrip("= "))] if is_exact else call_in(line) or pair_in(line, ids)
        pairs = [(key, value) for key, value in found if ID.match(key)]
        if pairs or not says_nothing(line):
            yield Line(Where(name, number), line, pairs, is_exact)


def speaking_of(key: str, lines: Iterable[WrittenAnswer]) -> list[WrittenAnswer]:
    """Return the unreadable lines that contain every word of an id."""
    words = set(re.findall(r"[a-z]{3,}|\d+", key.lower()))
    return [line for line in lines if words <= set(re.findall(r"[a-z]+|\d+", line.text.lower()))]


# --- other forms of a line ----------------------------------------------------------------------


def call_in(line: str) -> list[tuple[str, str]]:
    """Return the values in a pasted `answers.note(keras_epoch_s=0.91, predict="no")`.

    If an argument is an expression, return nothing, because its value is not in the text.
    """
    call = CALL.search(line)
    if not call:
        return []
    found, at = [], 0
    inside = FILE.sub("", call["inside"], count=1)
    while not ENDS.match(inside, at):  # a search would try each of many spaces
        part = PART.match(inside, at)
        if not part:
            return []
        found.append((part["key"], unquoted(part["value"])))
        at = part.end()
    return found


def pair_in(line: str, ids: Collection[str]) -> list[tuple[str, str]]:
    """Return the answer in a line such as `- id: value`, `"id": value,` or `**id** = value`.

    A line `id value` is also accepted if a question has this id. `Note: I was ill` is not an
    answer, so the text before a colon must be a question's id or look like an id.
    """
    line = LISTED.sub("", line, count=1) if LISTED.match(line) else line
    line = line.lstrip("{[(,| ")
    named = NAMED.match(line)
    if not named:
        return []
    key, rest = named["key"], line[named.end() :]
    asked = key in ids or (not ids and re.search(r"[_\d]", key))
    sign = EQUALS.match(rest) or (LOOSELY.match(rest) if asked else None)
    value = unquoted(rest[sign.end() :]) if sign else ""
    return [(key, value)] if value or (sign and sign[0].strip()) else []


def says_nothing(line: str) -> bool:
    """Return whether a line is only a JSON bracket, or the first or last line of a pasted call."""
    return not re.sub(r"\A[\w.]*\bnote\s*\(", "", line).strip(" {}[](),;`'\"|-")
