"""Tests of the tables whose last value is predicted, and that no rule of thumb predicts them."""

import math
import re
from pathlib import Path

import numpy as np
import pytest

from autograder.measuring import scaling_laws
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
    for file in (Path(foretelling.__file__), *root.glob("lessons/12_scaling/*")):
        assert not plain.search(file.read_text(encoding="utf-8")), file.name


# --- no rule of thumb passes all tables -----------------------------------------------------------


def gain(table, value):
    """Return a value as a speedup over the table's smallest size."""
    return table.values[0] / value if table.is_time else value / table.values[0]


def straight(table, count):
    """Fit a line through the last `count` points, with both axes logarithmic."""
    p, gains = np.log(table.sizes[-count:]), np.log(table.speedups[-count:])
    return math.exp(np.polyval(np.polyfit(p, gains, 1), math.log(table.asked)))


def by_law(name):
    def found(table):
        relative = [size / table.sizes[0] for size in table.sizes]
        fits = scaling_laws.textbook(relative, table.speedups)
        fit = fits.get(name, fits["Amdahl"])  # two sizes beyond the first are too few for the USL
        return float(fit(table.asked / table.sizes[0]))

    return found


def ideal(table):
    return table.speedups[-1] * table.asked / table.sizes[-1]


# What one may put into the middle of an interval that is as wide as is allowed.
MIDDLES = {
    "a line through all points, both axes logarithmic": lambda table: straight(table, 0),
    "a line through the last two": lambda table: straight(table, 2),
    "ideal from the last size on": ideal,
    "nine tenths of that": lambda table: 0.9 * ideal(table),
    "Amdahl": by_law("Amdahl"),
    "Gustafson": by_law("Gustafson"),
    "USL": by_law("USL"),
}


def held(low, high, table, truth):
    return low <= gain(table, truth) <= high and high / low <= table.widest * (1 + 1e-9)


def passed(middle, width=None):
    """Return how many tables the rule passes; width: high over low of the interval."""
    count = 0
    for name, table in foretelling.TABLES.items():
        half = math.sqrt(width or table.widest)
        at = middle(table)
        count += held(at / half, at * half, table, EXPECTED[f"foretold_{name}"])
    return count


@pytest.mark.parametrize("name", MIDDLES)
def test_no_rule_of_thumb_passes_all_tables(name):
    assert passed(MIDDLES[name]) < len(foretelling.TABLES)
