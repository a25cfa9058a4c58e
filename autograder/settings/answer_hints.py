"""Recognise wrong answers by hashes of the right ones.

`lessons build` writes the hashes, so nobody reads a right answer here by accident. Only numbers
have hashes: words and letters are so few that a student could try them all. A program can try
numbers, too.

A number is rounded to a cell of a grid before it is hashed, and every cell that the tolerance
touches counts as right. A right number therefore never gets a hint, and a number that is only
slightly wrong may get none.
"""

import hashlib
import json
import math
from functools import cache
from pathlib import Path

from autograder.settings import rubric
from autograder.settings.rubric_schema import Question, tolerance
from autograder.submissions.answer_values import readings

HASHES = "answer_hashes.json"  # beside the rubrics
NOWHERE = -(10**9)  # a cell that no right number has
EXACT = 1e-9  # the width of a cell if there is no tolerance
Hashes = dict[str, dict[str, list[str]]]


@cache
def hashes(rubrics: Path = rubric.FOLDER) -> Hashes:
    """Return the hashes of the right answers, by lesson and question."""
    file = rubrics / HASHES
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}


def answer_hash(lesson: str, question: str, cell: int) -> str:
    """Return the hash of a cell of a question's grid."""
    return hashlib.blake2b(f"{lesson} {question} {cell}".encode(), digest_size=8).hexdigest()


def hashes_of(lesson: str, name: str, question: Question, value: object) -> list[str]:
    """Return the hashes of all numbers that are accepted for this value."""
    right = float(str(value))
    relative, absolute = tolerance(question.tolerance)
    reach = max(absolute, relative * abs(right))
    ends = (cell(question, right - reach), cell(question, right + reach))
    return sorted(answer_hash(lesson, name, n) for n in range(min(ends), max(ends) + 1))


def cell(question: Question, number: float) -> int:
    """Return the index of the grid cell that contains a number.

    A cell is about as wide as the tolerance. With a relative one, the edges have a constant ratio.
    """
    relative, absolute = tolerance(question.tolerance)
    if not relative:
        return math.floor(number / (absolute or EXACT))
    if number <= 0:  # no right answer with a relative tolerance is
        return NOWHERE
    return math.floor(math.log(number) / math.log1p(relative))


def hint(
    lesson: str, name: str, question: Question, text: str, known: Hashes | None = None
) -> str | None:
    """Return the hint for a wrong answer, "" for a right one, or None if it cannot be checked.

    `known`: the hashes; by default, those of the course's own rubrics.
    """
    right = (hashes() if known is None else known).get(lesson, {}).get(name)
    numbers = readings(text, question.unit) if right else ()
    if not right or not numbers:  # an answer of another kind is reported separately
        return None
    if any(answer_hash(lesson, name, cell(question, n)) in right for n in numbers):
        return ""
    return question.try_ or "Read the question and the text above it once more."
