"""Tests that public checks do not print the answer to a graded question.

Every check is given functions that return all kinds of things, and everything it then says, and
every sentence in its file, is searched for the numbers that the rubric expects.
"""

import ast
import importlib
import inspect
import math
import os
import re
from pathlib import Path

import numpy as np
import pytest
import yaml

from autograder.settings.rubric import FOLDER
from lessons.toolkit.checks.shared.check import CheckFailed, checks_of

LESSONS = sorted(path.stem for path in (FOLDER / "expected").glob("[0-9]*.yaml"))
NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?")

WRONG: tuple = (
    None, 0, 1, -1, 2.5, 1e9, True, "x", [], [1.0, 2.0], (1, 2), (2.0, 1.0), {}, {"a": 1},
    np.zeros(3), np.ones((2, 2)), [np.zeros(2)] * 4,
)  # fmt: skip


def expected(lesson: str) -> dict[str, float]:
    """Return the graded numbers with more than one digit; single digits appear everywhere."""
    values = yaml.safe_load((FOLDER / "expected" / f"{lesson}.yaml").read_text())
    return {key: value for key, value in values.items() if is_telling(value)}


def is_telling(value: object) -> bool:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    digits = f"{value:.10g}".replace(".", "").replace("-", "").strip("0")
    return value >= 100 or (value != int(value) and len(digits) >= 2)


def revealed(text: str, lesson: str) -> list[str]:
    text = re.sub(r"in line \d+ of", "", text)
    said = [float(found.replace(",", "")) for found in NUMBER.findall(text)]
    return [
        f"{key} = {value}"
        for key, value in expected(lesson).items()
        if any(math.isclose(number, value, rel_tol=1.5e-3) for number in said)
    ]


def wrong_solutions(count: int):
    """Return wrong functions: constant, identity, and values that are not functions."""
    for value in WRONG:
        yield [lambda *given, value=value, **more: value] * count
    yield [lambda *given, **more: given[0] if given else None] * count
    yield [lambda *given, **more: given[-1] if given else None] * count
    yield [lambda *given, **more: sum(g for g in given if isinstance(g, int | float))] * count
    yield [lambda *given, **more: 1.0 * math.prod(g for g in given if is_plain(g))] * count
    yield [None] * count


def is_plain(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def files_of(module) -> list[Path]:
    """Return the file of a lesson's checks, or the files of their folder."""
    file = Path(module.__file__)
    return sorted(file.parent.glob("*.py")) if file.name == "__init__.py" else [file]


def sentences(path: Path) -> list[str]:
    """Return all texts of a module, including what a check says if everything is right."""
    tree = ast.parse(path.read_text())
    return [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and
            isinstance(node.value, str)]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("lesson", LESSONS)
def test_no_check_prints_a_graded_number(lesson, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(f"lessons.toolkit.checks.lesson_{lesson}")
    told = [text for file in files_of(module) for text in sentences(file)]
    tried, forks, fork = 0, list[int](), os.fork
    monkeypatch.setattr(os, "fork", lambda: forks.append(1) or fork())
    for check in checks_of(module).values():
        needed = inspect.signature(inspect.unwrap(check)).parameters.values()
        solutions = list(wrong_solutions(sum(p.default is p.empty for p in needed)))
        forks.clear()
        for number, students in enumerate(solutions):
            if number % 5 and forks:  # each of its tries starts ranks, for half a second
                continue
            tried += 1
            try:
                check(*students)
            except CheckFailed as failed:
                told.append(str(failed))
    assert tried >= 40
    told.append(capsys.readouterr().out)
    found = {text: revealed(text, lesson) for text in told}
    assert not {text: keys for text, keys in found.items() if keys}


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        (
            "14 s / 5 s lies in [2.45, 3.22]",
            ["interval_14_5_low = 2.45", "interval_14_5_high = 3.22"],
        ),
        ("seconds_from_us(120.5, 60000) = 7.23", ["s4_epoch_s = 7.23"]),
        ("42 s in [1176, 1205] images/s, 12.45 of 1,7.2", []),
    ],
)
def test_the_search_finds_numbers(text, keys):
    assert revealed(text, "02") == keys
