"""answers.txt: `id = value` lines with predictions, numbers and one-word answers.

# Lesson 02
predict_accuracy = 0.97
keras_epoch_s = 0.91
"""

import codecs
import re
from dataclasses import dataclass
from pathlib import Path

from autograder.records import Where
from autograder.safe_text import shortened
from autograder.submissions.regular_files import open_regular, unreadable, why
from autograder.verdict import Finding

MAX_BYTES = 1_000_000
ID = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}\Z")
THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?\Z")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?\Z")


@dataclass(frozen=True, slots=True)
class WrittenAnswer:
    """One answer as the student wrote it."""

    text: str
    where: Where


def read_answers(path: Path, name: str) -> tuple[dict[str, WrittenAnswer], list[Finding]]:
    try:
        with open_regular(path) as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        return {}, [unreadable(name, why(error))]
    if len(data) > MAX_BYTES:
        finding = Finding(
            "answers",
            "The answers file is too large to read",
            expected="a few lines `id = value`",
            found=f"more than {MAX_BYTES:,} bytes",
            where=(Where(name, 1),),
            try_="keep only the lines `id = value`",
        )
        return {}, [finding]
    return parse_answers(data, name)


def parse_answers(data: bytes, name: str) -> tuple[dict[str, WrittenAnswer], list[Finding]]:
    """Answers by id. An id with two different values counts as not answered, and is reported."""
    answers: dict[str, WrittenAnswer] = {}
    twice: dict[str, Where] = {}
    findings = []
    # PowerShell's > writes UTF-16, and says so in its first two bytes.
    wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    text = data.decode("utf-16" if wide else "utf-8-sig", "replace")
    for number, raw in enumerate(re.split(r"\r\n|\n|\r", text), start=1):
        line = raw.split("#", 1)[0].strip()
        if not line:
            continue
        key, sign, value = (part.strip() for part in line.partition("="))
        where = Where(name, number)
        if not sign or not ID.match(key):
            findings.append(
                Finding(
                    "answers",
                    "A line of the answers could not be read",
                    expected="id = value",
                    found=shortened(line, 80),
                    where=(where,),
                    try_="write one answer a line, like `keras_epoch_s = 0.91`",
                )
            )
        elif key in answers and answers[key].text != value:
            twice[key] = where
        else:
            answers[key] = WrittenAnswer(value, where)
    for key, where in twice.items():
        findings.append(
            Finding(
                "answers",
                f"`{key}` is answered twice",
                expected="one value",
                found="two different values, so neither counts",
                where=(answers.pop(key).where, where),
                try_="delete the line that is not your answer",
            )
        )
    return answers, findings


def as_number(text: str, unit: str = "") -> float | None:
    """The number a student wrote, or None. Takes 60,000 and 7,2 and 7.2 s and 87.5 %."""
    text = text.replace("\u2212", "-").replace("\u00a0", " ").strip()
    percent = text.endswith("%")
    if percent:
        text = text[:-1].rstrip()
    elif unit and text.endswith(unit):
        text = text[: -len(unit)].rstrip()
    if THOUSANDS.match(text):
        text = text.replace(",", "")
    elif text.count(",") == 1 and "." not in text:
        text = text.replace(",", ".")
    if len(text) > 40 or not NUMBER.match(text):
        return None
    value = float(text)
    if abs(value) > 1e300:
        return None
    return value / 100 if percent else value


def as_word(text: str) -> str:
    """Case, quotes and a full stop at the end do not make an answer wrong."""
    return text.strip().strip("\"'`").rstrip(".").strip().casefold()
