"""Read answers.txt: `id = value` lines with predictions, numbers and one-word answers.

# Lesson 02
predict_accuracy = 0.97
keras_epoch_s = 0.91

`id: value`, list dashes, quotes and JSON are accepted, too. Any other line that names a question is
a finding.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from autograder.codes import FindingCode
from autograder.grouping import grouped
from autograder.notes import Note
from autograder.records import Where
from autograder.safe_text import shortened
from autograder.submissions.answer_values import QUOTES, unquoted
from autograder.submissions.doubts import note_of
from autograder.submissions.walk import open_regular, why

MAX_BYTES = 1_000_000

LISTED = re.compile(r"(?:[-*•–]|\d{1,2}[.)])\s+")  # a list's marker, which a space follows
MARKS = rf"[{QUOTES}*_]{{0,3}}"
PAIR = re.compile(
    rf"[{{\[(, ]*{MARKS}(?P<id>[A-Za-z](?:[A-Za-z0-9_.-]{{0,62}}[A-Za-z0-9_])?)"
    rf"{MARKS}\s*(?P<sign>[=:])[=:]?{MARKS}\s*(?P<value>.*)"
)


@dataclass(frozen=True, slots=True)
class WrittenAnswer:
    """One answer as the student wrote it."""

    text: str
    where: Where
    differs: str = ""  # the different answers, if there are several; then `text` is empty


def answers_of(
    files: Mapping[Path, str], ids: Collection[str]
) -> tuple[dict[str, WrittenAnswer], list[Note]]:
    """Return the answers in files, given as path -> name, as `parse_answers` does for one file."""
    pairs, findings = list[tuple[str, WrittenAnswer]](), list[Note]()
    for path, name in files.items():
        try:
            with open_regular(path) as file:
                data = file.read(MAX_BYTES + 1)
        except OSError as error:
            findings.append(note_of(FindingCode.FILE_UNREADABLE, name, why(error)))
            continue
        if len(data) > MAX_BYTES or b"\0" in data:
            detail = f"not plain UTF-8 text of at most {MAX_BYTES:,} bytes"
            findings.append(note_of(FindingCode.ANSWERS_NOT_TEXT, name, detail))
            continue
        if not data.strip():
            findings.append(note_of(FindingCode.FILE_EMPTY, name, "it is empty"))
            continue
        answers, more = parse_answers(data, name, ids)
        pairs += answers.items()
        findings += more
    answers, different = without_contradictions(pairs)
    return answers, [*findings, *different]


def parse_answers(
    data: bytes, name: str, ids: Collection[str]
) -> tuple[dict[str, WrittenAnswer], list[Note]]:
    """Return the answers by id, and findings about lines that do not count.

    `ids` are the ids of all questions. If none of them is answered, a line that names none is a
    finding.
    """
    lines = list(lines_of(data, name, ids))
    asked = [words for key in ids if (words := {*re.findall(r"[a-z]{3,}|\d+", key.lower())})]
    unclear = []
    for where, text, key, _ in lines:
        words = {*re.findall(r"[a-z]+|\d+", text.lower())}
        if not key and any(names <= words for names in asked):
            unclear.append((text, where))
    if ids and not unclear and not any(value for _, _, key, value in lines if key in ids):
        unclear = [(text, where) for where, text, key, _ in lines if key not in ids][:1]
    code = FindingCode.ANSWER_LINE_UNREAD
    findings = [note_of(code, "", shortened(text, 80), [where]) for text, where in unclear]
    pairs = [(key, WrittenAnswer(value, where)) for where, _, key, value in lines if key]
    answers, different = without_contradictions(pairs)
    return answers, [*findings, *different]


def without_contradictions(
    pairs: Iterable[tuple[str, WrittenAnswer]],
) -> tuple[dict[str, WrittenAnswer], list[Note]]:
    """Return the answers by id. A question with different answers counts as unanswered."""
    answers, findings = dict[str, WrittenAnswer](), list[Note]()
    for key, same in grouped(pairs).items():
        texts = {answer.text: answer for answer in same if answer.text}
        answers[key] = next(iter(texts.values()), same[0])
        if len(texts) > 1:
            several = " and ".join(shortened(text, 40) for text in [*texts][:3])
            differs = f"different answers: {key} = {several}"
            answers[key] = WrittenAnswer("", answers[key].where, differs)
            places = [answer.where for answer in texts.values()]
            findings.append(note_of(FindingCode.ANSWERED_TWICE, "", differs, places, id=key))
    return answers, findings


def lines_of(data: bytes, name: str, ids: Collection[str]) -> Iterator[tuple[Where, str, str, str]]:
    """Yield the place, text, id and value of each line that is no blank, bracket or comment.

    `Note: I was ill` is no answer, so before a colon there must be a question's id.
    """
    text, as_asked = data.decode("utf-8-sig", "replace"), {key.casefold(): key for key in ids}
    for number, raw in enumerate(re.split(r"\r\n|\n|\r", text), start=1):
        line = raw.split("#", 1)[0].strip()
        pair = PAIR.match(LISTED.sub("", line, count=1) if LISTED.match(line) else line)
        other = pair["id"] if pair and pair["sign"] == "=" else ""
        key = as_asked.get(pair["id"].casefold(), other) if pair else ""
        if line.strip(" {}[](),"):
            yield Where(name, number), line, key, unquoted(pair["value"]) if pair else ""
