"""Tests of the tables whose last value is predicted."""

import re
from pathlib import Path

import pytest

from autograder.measuring import interval, scaling_laws
from autograder.settings import rubric
from lessons.toolkit import answers, foretelling

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
        text = re.sub(r'"id": "\w+"', "", file.read_text(encoding="utf-8"))  # a hash of a cell
        assert not plain.search(text), file.name


def test_an_interval_counts_as_it_was_before_the_first_look(tmp_path, capsys):
    path = tmp_path / "answers.txt"
    assert foretelling.first({NAME: (900, 1100)}, path) == {NAME: (900, 1100)}
    answers.note(path, **{f"foretold_{NAME}": "900 to 1100"})
    assert foretelling.first({NAME: (960, 1000)}, path) == {NAME: (900, 1100)}
    assert "900 to 1100" in capsys.readouterr().out


def ideal(table):
    grown = table.asked / table.sizes[-1]
    return table.values[-1] / grown if table.is_time else table.values[-1] * grown


def below_ideal(table):
    """Return the widest interval whose better end is 2 % better than ideal scaling."""
    if table.is_time:
        return ideal(table) / 1.02, ideal(table) / 1.02 * table.widest
    return 1.02 * ideal(table) / table.widest, 1.02 * ideal(table)


def around_ideal(table):
    return ideal(table) / table.widest**0.5, ideal(table) * table.widest**0.5


def printed(table):
    """Return the ends that the page prints: those of the laws' range."""
    relative = [size / table.sizes[0] for size in table.sizes]
    points = [(p, interval.exact(s)) for p, s in zip(relative, table.speedups, strict=True)]
    low, high = (
        end(points, table.asked / table.sizes[0]).value
        for end in (scaling_laws.lowest, scaling_laws.highest)
    )
    first = table.values[0]
    return (first / high, first / low) if table.is_time else (first * low, first * high)


def below_printed(table):
    return printed(table)[1] / table.widest, printed(table)[1]


def above_printed(table):
    return printed(table)[0], printed(table)[0] * table.widest


def around_printed(table):
    low, high = printed(table)
    return (low * high / table.widest) ** 0.5, (low * high * table.widest) ** 0.5


RULES = [below_ideal, around_ideal, below_printed, above_printed, around_printed]


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_of_thumb_is_not_always_honest(rule):
    intervals = {name: rule(table) for name, table in foretelling.TABLES.items()}
    assert not all(foretelling.reveal(name, *ends) for name, ends in intervals.items())
