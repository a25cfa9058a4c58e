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
    """Return the value of ideal scaling, 2 % better, as both ends."""
    grown = 1.02 * table.asked / table.sizes[-1]
    return (table.values[-1] / grown if table.is_time else table.values[-1] * grown,) * 2


def printed(table):
    """Return the ends that the page prints: those of the laws' range."""
    relative = [size / table.sizes[0] for size in table.sizes]
    points = [(p, interval.exact(s)) for p, s in zip(relative, table.speedups, strict=True)]
    ends = (scaling_laws.lowest, scaling_laws.highest)
    low, high = (end(points, table.asked / table.sizes[0]).value for end in ends)
    first = table.values[0]
    return (first / high, first / low) if table.is_time else (first * low, first * high)


# How far below the high end an interval begins, for rates and for times: all, half or nothing of
# what is allowed.
@pytest.mark.parametrize("ends", [ideal, printed])
@pytest.mark.parametrize("below", [(1, 1), (0, 0), (0.5, 0.5), (1, 0)])
def test_a_rule_of_thumb_is_not_always_honest(below, ends):
    honest = []
    for name, table in foretelling.TABLES.items():
        (low, high), share = ends(table), below[table.is_time]
        begin = (high / table.widest) ** share * low ** (1 - share)
        honest.append(foretelling.reveal(name, begin, begin * table.widest))
    assert not all(honest)
