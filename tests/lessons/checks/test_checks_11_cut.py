"""Lesson 11's public checks of cut layers and counted bytes: each mistake gets its advice."""

import types
from datetime import timedelta
from pathlib import Path

import pytest
from advice import ROOT, assert_advice, failure

from lessons.toolkit.checks import lesson_11 as check

LESSON = ROOT / "solutions" / "11_pipeline"


def changed(name, *changes):
    """Return the solution's module with some of its text changed."""
    text = (LESSON / name).read_text(encoding="utf-8")
    for old, new in changes:
        assert text.count(old) == 1, (name, old)
        text = text.replace(old, new)
    module = types.ModuleType(Path(name).stem)
    exec(compile(text, name, "exec"), module.__dict__)
    return module


def test_the_lessons_own_functions_pass():
    layers = changed("tensor_layers.py")
    check.check_11_5(layers.cut)
    check.check_11_6(layers)
    check.check_11_7(layers.bytes_a_step)


# Exercise 11.5
CUTS = [
    ("weight.tensor_split(size)[rank], bias.", "weight.tensor_split(size, 1)[rank], bias.",
     "wrong axis"),
    ("weight.tensor_split(size, dim=1)", "weight.tensor_split(size)", "wrong axis"),
    ("(size, dim=1)[rank], bias", "(size, dim=1)[rank], bias.tensor_split(size)[rank]",
     "keep the whole bias"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "advice"), CUTS)
def test_wrong_cuts(old, new, advice):
    wrong = changed("tensor_layers.py", (old, new))
    assert_advice(failure(check.check_11_5, wrong.cut), advice)


# Exercise 11.6
BLOCKS = [
    ("return summed(gradient)", "return gradient", "only the gradient from this rank's part"),
    ("ToParts.apply(x)", "x", "only the gradient from this rank's part"),
    ("        return gradient\n", "        return summed(gradient)\n", "p times too large"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "advice"), BLOCKS)
def test_wrong_blocks(old, new, advice, monkeypatch):
    monkeypatch.setattr("lessons.toolkit.checks.shared.real_ranks.PATIENCE", timedelta(seconds=2))
    wrong = changed("tensor_layers.py", (old, new))
    assert_advice(failure(check.check_11_6, wrong), advice)


def test_what_is_wrong_is_shown_where_it_is():
    wrong = changed("tensor_layers.py", ("return summed(gradient)", "return gradient"))
    _, expected, found, _ = failure(check.check_11_6, wrong).lines()
    assert expected.rpartition(" is ")[2] != found.removeprefix("found").strip()


def test_a_bias_that_rank_0_alone_adds_is_right_as_well():
    check.check_11_6(changed("tensor_layers.py", (
        "linear(hidden, row[0])) + row[1]",
        "linear(hidden, row[0], None if dist.get_rank() else row[1]))",
    )))  # fmt: skip


# Exercise 11.7
BYTES = [
    ("2 * (ranks - 1) / ranks * numbers", "numbers", "2 (p - 1) / p"),
    ("* numbers * itemsize", "* numbers", "`itemsize` bytes"),
    ("2 * (ranks - 1)", "(ranks - 1)", "twice"),
]


@pytest.mark.parametrize(("old", "new", "advice"), BYTES)
def test_wrong_bytes(old, new, advice):
    wrong = changed("tensor_layers.py", (old, new))
    assert_advice(failure(check.check_11_7, wrong.bytes_a_step), advice)
