"""Check the form of an answer, and of a prediction, which is compared with a measurement."""

import math
import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from autograder.judging import judge_answers
from autograder.settings.rubric_schema import Question
from autograder.submissions.answer_values import as_word

THOUSANDS = re.compile(r"\d{1,3}(,\d{3})+")
FORMS = Path(__file__).with_suffix(".toml")


@cache
def forms() -> dict[str, dict[str, dict[str, Any]]]:
    """Return the required form of predictions and words, grouped by lesson."""
    return tomllib.loads(FORMS.read_text(encoding="utf-8"))


def form_fault(lesson: str, name: str, question: Question, text: str) -> str:
    """Return what is wrong with an answer's form, and the expected one; "" if nothing is."""
    form = of_another_form(lesson, name, text) or judge_answers.expected_kind(question, text)
    if form and text and question.kind == "prediction":
        return f"counts, but cannot be compared with a measurement. Write {form}"
    return f"has the wrong form. Expected: {form}" if form else ""


def of_another_form(lesson: str, name: str, text: str) -> str:
    """Return the expected form if the text does not have it, otherwise ""."""
    form = forms().get(lesson, {}).get(name, {})
    word = as_word(text)
    if length := form.get("length"):
        return "" if len(word) == length else f"one word of {length} letters or digits, in quotes"
    if words := form.get("words"):
        return "" if word in words else "one of these words: " + ", ".join(words)
    if letters := form.get("letters"):
        right = word == "none" or (word and set(word) <= set(letters))
        return "" if right else f"some of the letters {', '.join(letters)}, or none"
    if asked := form.get("number"):
        low, high = form.get("from"), form.get("to")
        number = as_number(text)
        right = number is not None and not (low is not None and number < low)
        right = right and not (high is not None and number > high)
        within = f", from {low} to {high}" if high is not None else ""
        what = asked if asked.startswith("a ") else f"a number of {asked}"
        return "" if right else f"digits only: {what}{within}{how_to_write(text)}"
    return ""


def how_to_write(text: str) -> str:
    """Return how to write a number that was given with a percent sign or a comma."""
    if "%" in text:
        return ". Write 0.05 instead of 5 %"
    if THOUSANDS.fullmatch(text.strip()):
        return ". Write 50000 instead of 50,000"
    return ". Write 1.5 instead of 1,5" if "," in text else ""


def as_number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
