"""Tests of lessons' texts: required topics and parts, and the form of job files."""

import ast
import re
import symtable
from pathlib import Path

import pytest

SOLUTIONS = Path(__file__).parents[3] / "solutions"

LESSONS = sorted(folder for folder in SOLUTIONS.glob("[0-9]*") if (folder / "lesson.py").exists())


# A page has at most 2,700 words, and 2,450 on average, also where numbers and signs are counted in
# other ways: these find up to 130 more.
MOST = {"words": 2600, "cells": 40, "rows of tables": 25}
MEAN_WORDS = 2390
STILL_OVER = {("05", "rows of tables")}


def cells_and_texts(folder):
    cells = re.split(r"(?m)^# %%", (folder / "lesson.py").read_text(encoding="utf-8"))[1:]
    texts = [re.sub(r"(?m)^# ?", "", cell) for cell in cells if cell.startswith(" [markdown]")]
    return cells, texts


def test_pages_are_short_on_average():
    words = [sum(len(text.split()) for text in cells_and_texts(folder)[1]) for folder in LESSONS]
    assert sum(words) / len(words) <= MEAN_WORDS


@pytest.mark.parametrize("folder", LESSONS, ids=lambda folder: folder.name)
def test_a_page_can_be_finished(folder):
    cells, texts = cells_and_texts(folder)
    lines = [line for text in texts for line in text.splitlines()]
    tables = [line for line in lines if line.startswith("|")]
    rules = [line for line in tables if set(line) <= set("| -")]
    found = {
        "words": sum(len(text.split()) for text in texts),
        "cells": len(cells),
        "rows of tables": len(tables) - 2 * len(rules),
    }
    over = {(folder.name[:2], what) for what, number in found.items() if number > MOST[what]}
    assert over == {each for each in STILL_OVER if each[0] == folder.name[:2]}, found


@pytest.mark.parametrize("folder", LESSONS, ids=lambda folder: folder.name)
def test_the_lesson_has_its_parts(folder):
    text = (folder / "lesson.py").read_text(encoding="utf-8")
    submit = f"lessons submit {folder.name[:2]}"
    for part in ("Allow ", "## Predict", "What you should see", "## Traps", "## Recap", submit):
        assert part in text, f"{folder.name}/lesson.py lacks “{part}”"


NUMBERED = [*(f"{number:02}" for number in range(12)), "13", "14", "15", "16", "17"]


@pytest.mark.parametrize("lesson", NUMBERED)
def test_exercises_are_numbered_in_their_order(lesson):
    [folder] = SOLUTIONS.glob(f"{lesson}_*")
    text = (folder / "lesson.py").read_text(encoding="utf-8")
    found = re.findall(r"\*\*Exercise \d+\.(\d+)(b?)", text)
    assert found == sorted(found, key=lambda exercise: (int(exercise[0]), exercise[1]))
    numbers = [int(number) for number, part in found if not part]
    assert numbers == list(range(1, len(numbers) + 1))


@pytest.mark.parametrize("lesson", [*NUMBERED, "12"])
def test_every_prediction_comes_back(lesson):
    [folder] = SOLUTIONS.glob(f"{lesson}_*")
    text = (folder / "lesson.py").read_text(encoding="utf-8")
    noted = set(re.findall(r"\b(predict_\w+)=", text))
    compared = re.findall(r'predictions\.compare\(\s*f?"([\w{}]+)"', text)
    names = [re.sub(r"{\w+}", r"\\w+", name) for name in compared]  # of f"predict_{rule}"
    assert [name for name in noted if not any(re.fullmatch(n, name) for n in names)] == []
    assert [n for n in names if not any(re.fullmatch(n, name) for name in noted)] == []


@pytest.mark.parametrize("folder", LESSONS, ids=lambda folder: folder.name)
def test_a_job_can_be_submitted_again_from_the_end_of_the_page(folder):
    """No cell below gives another value to a name that a cell with a job reads."""
    cells = [cell.partition("\n")[2] for cell in cells_and_texts(folder)[0]]
    for number, cell in enumerate(cells):
        nodes = list(ast.walk(ast.parse(cell))) if "course.submit" in cell else []
        names = [node for node in nodes if isinstance(node, ast.Name)]
        own = {node.id for node in names if isinstance(node.ctx, ast.Store)}
        own |= {node.arg for node in nodes if isinstance(node, ast.arg)}
        read = {node.id for node in names} - own
        for later in cells[number + 1 :]:
            symbols = symtable.symtable(later, folder.name, "exec").get_symbols()
            assert not read & {each.get_name() for each in symbols if each.is_assigned()}


# Jobs that come back, or that start two agents, do something after the launch.
LAST = ("launch ", "launch_nodes ", 'exit "$status"', 'wait "$first"')


@pytest.mark.parametrize(
    "job", [job for f in LESSONS for job in sorted(f.glob("*.sbatch"))], ids=lambda job: job.name
)
def test_a_job_is_plain(job):
    lines = job.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 30
    assert "set -euo pipefail" in lines
    assert lines[-1].startswith(LAST), "the last line's exit code is the job's"
    for line in lines:
        if line.startswith("#SBATCH"):
            assert line.split()[1].startswith("--"), "long options only"
        assert "/home/" not in line
