"""Tests of `lessons check` with several checks in a cell, and with undefined names."""

import ast
import builtins
from pathlib import Path

import nbformat
import pytest

from lessons.edition.notebook_pages import read_pages
from lessons.folders import lesson_folders, notebook_in
from lessons.student.exercise_results import NEEDED
from tests.lessons.student.small_lesson import RIGHT, fill, rows

ROOT = Path(__file__).parents[3]


def change_cells(folder, change):
    notebook = nbformat.read(notebook_in(folder), as_version=4)
    for cell in list(notebook.cells):
        change(notebook.cells, cell)
    nbformat.write(notebook, notebook_in(folder))


@pytest.mark.slow
def test_of_several_checks_in_one_cell_each_is_told_by_itself(student, lessons_command):
    def together(cells, cell):
        if cell.source.startswith('check("1.1"'):
            cell.source += (
                '\nimport importlib\n\nimportlib.reload(train)\ncheck("1.2", train.triple)'
            )
        elif cell.source.startswith('check("1.2"'):
            cells.remove(cell)

    change_cells(student, together)
    fill(student, RIGHT[0], ("Exercise 1.1", "    return x"), RIGHT[2])
    found = rows(lessons_command("check", "01").output)
    assert found["1.1"][0] == "not yet"
    assert found["1.2"][0] == "passed"
    fill(student, ("return x", "    return x + x"))
    found = rows(lessons_command("check", "01").output)
    assert found["1.1"][0] == "passed"
    assert "Exercise" not in found["1.1"][1]


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ("Exercise 1.1: set double to a function", "still a gap"),
        ("set double to a function", "not yet"),  # as a library's own error may say
    ],
)
def test_an_exercise_is_a_gap_if_it_defines_nothing_yet(student, lessons_command, said, status):
    def answers(cells, cell):
        if "def double" in cell.source:
            cell.source = f'raise NotImplementedError("{said}")'

    change_cells(student, answers)
    done = lessons_command("check", "01")
    assert rows(done.output)["1.1"][0] == status
    assert "set double to a function" in done.output


def names(source):
    """Return the names that the code defines, and those that it uses from elsewhere."""
    defined, taken = set(), set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Name(id, ast.Load()):
                taken.add(id)
            case ast.Name(id) | ast.FunctionDef(id) | ast.ClassDef(id) | ast.arg(id):
                defined.add(id)
            case ast.alias():
                defined.add((node.asname or node.name).partition(".")[0])
    return defined, taken


@pytest.mark.parametrize("lesson", sorted(lesson_folders(ROOT / "solutions")))
def test_a_check_needs_no_cell_that_lessons_check_leaves_out(lesson):
    [folder] = (ROOT / "solutions").glob(f"{lesson}_*/")
    known = set(dir(builtins))
    for cell in read_pages((folder / "lesson.py").read_text(), "lesson.py").cells:
        tags = set(cell.metadata.get("tags", []))
        if cell.cell_type == "code" and tags & NEEDED:
            defined, taken = names(cell.source)
            known |= defined
            assert "check" not in tags or not taken - known, cell.source
