"""Read answers.txt: `id = value` lines with predictions, numbers and one-word answers.

# Lesson 02
predict_accuracy = 0.97
keras_epoch_s = 0.91

Other forms are accepted if they are unambiguous: `id: value`, list dashes, JSON, quotes, or a
pasted `answers.note(…)`. Any other line is kept and shown beside the question that it may answer.
"""

import codecs
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from autograder.codes import FindingCode
from autograder.records import Where
from autograder.safe_text import shortened
from autograder.submissions.loose_answers import (
    call_in,
    from_page,
    pair_in,
    says_nothing,
    sum_in,
    unquoted,
    value_in,
)
from autograder.submissions.regular_files import open_regular, unreadable, why
from autograder.verdict import Finding, make_finding

MAX_BYTES = 1_000_000
MOST_ASIDE = 50_000  # largest answers file under another name
ID = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}\Z")
THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?\Z")
# The same with the separators of many other countries: 1.190,48 or 1.325.568.
POINTS = re.compile(r"[+-]?\d{1,3}((\.\d{3})+,\d+|(\.\d{3}){2,})\Z")
EITHER = re.compile(r"[+-]?[1-9]\d{0,2}[.,]\d{3}\Z")  # 150.528 and 150,528
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?\Z")
PERCENT = re.compile(r"\s*(%|(percent|per cent|prozent)\b\.?)\Z", re.IGNORECASE)
SAME_WORDS = {"true": "yes", "ja": "yes", "false": "no", "nein": "no"}
MOST_UNREAD = 50  # unreadable lines that are kept to be shown


@dataclass(frozen=True, slots=True)
class WrittenAnswer:
    """One answer as the student wrote it."""

    text: str
    where: Where
    differs: str = ""  # the different values if files disagree; then `text` is empty


def read_answers(
    path: Path, name: str, ids: Collection[str] = (), unread: list[WrittenAnswer] | None = None
) -> tuple[dict[str, WrittenAnswer], list[Finding]]:
    try:
        with open_regular(path) as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        return {}, [unreadable(name, why(error))]
    if len(data) > MAX_BYTES:
        code, found = FindingCode.ANSWERS_TOO_LARGE, f"more than {MAX_BYTES:,} bytes"
        expected, advice = "a few lines `id = value`", "keep only the lines `id = value`"
        return {}, [make_finding("answers", code, expected, found, [Where(name, 1)], advice)]
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
    typed = is_page(name)
    answers: dict[str, WrittenAnswer] = {}
    twice: dict[str, Where] = {}
    findings = []
    lines = list(lines_of(text_of(data, name), name, ids))
    exactly = {pair[0]: pair[1] for _, line, _ in lines for pair in exact_in(line)}
    for where, line, read in lines:
        loosely = not exact_in(line) and any(
            exactly.get(key, value) != value for key, value in read
        )
        pairs = [] if loosely else read
        if not pairs:
            answer = WrittenAnswer(line, where)
            if unread is not None and len(unread) < MOST_UNREAD:
                unread.append(answer)
            if not typed or names_an_id(line, ids):  # otherwise it may be a greeting to the teacher
                findings.append(not_read(answer))
        for key, value in pairs:
            if key in answers and answers[key].text != value:
                twice[key] = where
            else:
                answers[key] = WrittenAnswer(value, where)
    for key, where in twice.items():
        findings.append(
            make_finding(
                "answers",
                FindingCode.ANSWERED_TWICE,
                "one value",
                "two different values, so neither counts",
                (answers.pop(key).where, where),
                "delete the line that is not your answer",
                name=key,
            )
        )
    return answers, findings


def text_of(data: bytes, name: str) -> str:
    text = data.decode(encoding_of(data), "replace")
    return from_page(text) if is_page(name) else text


def encoding_of(data: bytes) -> str:
    """Return the encoding of an answers file.

    PowerShell's `>` writes UTF-16 and marks it in the first two bytes. Some editors omit this mark,
    but every second byte of plain ASCII text is then zero.
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    first, second = data[::2], data[1::2]
    if 2 * second.count(0) > len(second):
        return "utf-16-le"
    return "utf-16-be" if 2 * first.count(0) > len(first) else "utf-8-sig"


def is_page(name: str) -> bool:
    return name.lower().endswith((".html", ".htm"))


def holds_answers(path: Path, ids: Collection[str]) -> bool:
    """Return whether a file with another name holds answers.

    More than half of its lines must answer known questions, and at least two different ones.
    """
    try:
        with open_regular(path) as file:
            data = file.read(MOST_ASIDE + 1)
    except OSError:  # the error is reported when the file is read
        return False
    if len(data) > MOST_ASIDE:
        return False
    lines = [exact_in(line) for _, line, _ in lines_of(text_of(data, path.name), path.name, ())]
    known = [pair[0] for pair, *_ in filter(None, lines) if pair[0] in ids]
    return len({*known}) > 1 and 2 * len(known) > len(lines)


Pairs = list[tuple[str, str]]


def lines_of(text: str, name: str, ids: Collection[str]) -> Iterator[tuple[Where, str, Pairs]]:
    """Yield each line that is neither blank nor a comment, with the answers in it."""
    lines = re.split(r"\r\n|\n|\r", text)
    for number, raw in enumerate(lines, start=1):
        line = raw.split("#", 1)[0].strip()
        if not line:
            continue
        found = exact_in(line) or call_in(line) or pair_in(line, ids)
        pairs = [(key, value) for key, value in found if ID.match(key)]
        if not pairs and says_nothing(line):
            continue
        yield Where(name, number), line, pairs


def exact_in(line: str) -> Pairs:
    key, sign, value = (part.strip() for part in line.partition("="))
    return [(key, value.lstrip("= "))] if sign and ID.match(key) else []


def names_an_id(line: str, ids: Collection[str]) -> bool:
    words = set(re.findall(r"[A-Za-z][A-Za-z0-9_.-]*", line))
    return not words.isdisjoint(ids)


def not_read(line: WrittenAnswer) -> Finding:
    code, found = FindingCode.ANSWER_LINE_UNREAD, shortened(line.text, 80)
    advice = "write one answer per line, like `keras_epoch_s = 0.91`"
    return make_finding("answers", code, "id = value", found, [line.where], advice)


def speaking_of(key: str, lines: Iterable[WrittenAnswer]) -> list[WrittenAnswer]:
    """Return the unreadable lines that contain every word of an id."""
    words = set(re.findall(r"[a-z]{3,}|\d+", key.lower()))
    return [line for line in lines if words <= set(re.findall(r"[a-z]+|\d+", line.text.lower()))]


def as_number(text: str, unit: str = "") -> float | None:
    """Parse the number that a student wrote, or return None if there is none.

    Accept numbers such as 60,000, 7,2, 1.190,48, 7.2 s, 87.5 % and 87.5 percent.
    """
    text = text.replace("\u2212", "-").replace("\u00a0", " ").strip()
    percent = PERCENT.search(text)
    if percent:
        text = text[: percent.start()]
    elif unit and text.endswith(unit):
        text = text[: -len(unit)].rstrip()
    if POINTS.match(text):
        text = text.replace(".", "").replace(",", ".")
    elif THOUSANDS.match(text):
        text = text.replace(",", "")
    elif text.count(",") == 1 and "." not in text:
        text = text.replace(",", ".")
    if len(text) > 40 or not NUMBER.match(text):
        return None
    value = float(text)
    if abs(value) > 1e300:
        return None
    return value / 100 if percent else value


def readings(text: str, unit: str = "") -> tuple[float, ...]:
    """Return the possible values of the number in an answer, or nothing if there is no number.

    Quotes, `~`, sums of products and other units of the same kind are accepted too. 150.528 and
    150,528 have two readings, because the point or comma may separate thousands or decimals,
    depending on the country.
    """
    found = (text, 1.0) if as_number(text, unit) is not None else value_in(text, unit)
    if found is None:
        total = sum_in(text)
        return () if total is None else (total,)
    number, factor = found
    value = as_number(number, unit)
    if value is None:
        return ()
    digits = PERCENT.sub("", number).removesuffix(unit).strip()
    other = value * 1000 if value == as_number(number.replace(",", "."), unit) else value / 1000
    return (value * factor, *((other * factor,) if EITHER.match(digits) else ()))


def as_word(text: str) -> str:
    """Return a word without the differences that do not affect whether an answer is right.

    They concern case, quotes, brackets, a final full stop, and the language of yes and no.
    """
    word = unquoted(text).strip("\"'`()[]").rstrip(".").rstrip(")").strip().casefold()
    return SAME_WORDS.get(word, word)
