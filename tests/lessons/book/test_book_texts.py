"""Tests of the words for each picture of the book."""

import re
from pathlib import Path

import pytest

from lessons.book.alt_texts import UNKNOWN, alt_text, called

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("code", "described"),
    [
        ("plots.losses(runs)", "The loss after each step"),
        ("a = plots.whole_seconds(b)\ndisplay(plots.speedups(a))", "Epoch time, speedup"),
        ("%matplotlib inline\nplots.losses(runs)", "The loss"),
        ("show(picture)", UNKNOWN),
    ],
)
def test_a_picture_is_described_by_the_function_that_drew_it(code, described):
    assert alt_text(code).startswith(described)


@pytest.mark.parametrize("lesson", sorted((ROOT / "solutions").glob("*/lesson.py")), ids=str)
def test_every_picture_of_a_lesson_has_words(lesson):
    for cell in re.split(r"^# %%.*$", lesson.read_text(), flags=re.MULTILINE):
        for name in called(cell):
            assert alt_text(f"plots.{name}()") != UNKNOWN or name in PREPARE, name


PREPARE = {
    "schedule_sliders",
    "whole_seconds",
    "epoch_times",
    "shares_of",
    "median_of_measure",
}
