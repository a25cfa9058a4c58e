"""Tests of the tables whose last value is predicted."""

import re
from pathlib import Path

import pytest

from autograder.settings import rubric
from lessons.toolkit import foretelling

NAME = "k80_resnet152"
ASKED = rubric.load_rubric(rubric.FOLDER / "12.yaml")
EXPECTED = rubric.load_expected(rubric.FOLDER / "expected" / "12.yaml", ASKED)


@pytest.mark.parametrize(
    ("ends", "words"), [((950, 1150), "contains it"), ((1100, 1200), "is too high")]
)
def test_the_truth_is_shown_beside_the_interval(ends, words, capsys):
    foretelling.reveal(NAME, *ends)
    shown = capsys.readouterr().out
    assert f"{EXPECTED[f'foretold_{NAME}']:g} images/s" in shown
    assert words in shown


@pytest.mark.parametrize("name", foretelling.TABLES)
def test_the_truths_are_those_that_grading_knows_and_no_file_of_students_says_them(name, capsys):
    table, truth = foretelling.TABLES[name], EXPECTED[f"foretold_{name}"]
    foretelling.reveal(name, 1, 1.1)
    assert f": {truth:,g} {table.what} on " in capsys.readouterr().out
    assert ASKED.answers[f"foretold_{name}"].widest == table.widest
    plain = re.compile(rf"(?<![\d.]){re.escape(f'{truth:g}')}(?![\d.])")
    root = Path(foretelling.__file__).parents[2]
    for file in (Path(foretelling.__file__), *root.glob("lessons/12_scaling/**/*.*")):
        assert not plain.search(file.read_text(encoding="utf-8")), file.name
