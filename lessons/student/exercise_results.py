"""Report the results of a notebook's check cells, by exercise."""

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from lessons.edition.notebook_pages import CHECK_CALL, checked_exercises
from lessons.folders import notebook_in
from lessons.student.cell_errors import (
    ESCAPES,
    GAPS,
    NO_NOTEBOOK,
    SYNTAX_ERRORS,
    TOO_LONG,
    error_of,
    explained,
    missing_file,
    name_of,
    number_of,
)
from lessons.student.run_cells import run_cells

NEEDED = {"parameters", "setup", "exercise", "check"}


@dataclass(frozen=True)
class ExerciseResult:
    exercise: str  # "2.1"
    status: str  # passed, still a gap, not yet
    said: str = ""  # expected, found and try, or the error


def check_folder(folder: Path, wanted: set[str]) -> tuple[list[ExerciseResult], list[str]]:
    """Return the results in notebook order, and the errors of cells that are not checks."""
    notebook = read_notebook(notebook_in(folder))
    notebook.cells = [
        part
        for cell in notebook.cells
        if cell.cell_type == "code" and NEEDED & set(cell.metadata.get("tags", []))
        for part in one_by_one(cell)
    ]
    if not checked_exercises(notebook):
        raise click.ClickException(f"{notebook_in(folder)} has no check cells.")
    run_cells(notebook, folder)
    said_of = {id(cell): said for cell, said in explained(notebook.cells, folder)}
    broken = {
        number_of(cell): said_of[id(cell)]
        for cell in notebook.cells
        if "check" not in cell.metadata.tags and error_of(cell).startswith(SYNTAX_ERRORS)
    }
    results = []
    for cell in notebook.cells:
        if "check" in cell.metadata.tags:
            for number in sorted(set(CHECK_CALL.findall(cell.source))):
                result = judge(number, cell, said_of.get(id(cell), ""))
                if number in broken and result.status != "passed":
                    result = ExerciseResult(number, "not yet", broken[number])
                results.append(result)
    told = {result.said for result in results}
    faults = [fault for cell in notebook.cells for fault in fault_of(cell, said_of.get(id(cell)))]
    faults = [fault for fault in faults if fault not in told]
    missing = sorted(wanted - {result.exercise for result in results})
    results += [
        ExerciseResult(number, "not yet", "its check cell is missing; take a fresh copy")
        for number in missing
    ]
    return results, faults


def one_by_one(cell: Any) -> list[Any]:
    """Split a cell with several checks, so that a failed check does not hide the next one."""
    try:
        statements = ast.parse(cell.source).body if "check" in cell.metadata.tags else []
    except SyntaxError:
        statements = []
    lines = cell.source.splitlines()
    ends = [
        statement.end_lineno
        for statement in statements
        if CHECK_CALL.search("\n".join(lines[statement.lineno - 1 : statement.end_lineno]))
    ]
    if len(ends) < 2:
        return [cell]
    parts = []
    for begin, end in zip([0, *ends[:-1]], [*ends[:-1], len(lines)], strict=True):
        part = copy.deepcopy(cell)
        part.source = "\n".join(lines[begin:end])
        parts.append(part)
    return parts


def read_notebook(path: Path) -> Any:
    import nbformat

    try:
        return nbformat.read(path, as_version=4)
    except FileNotFoundError as error:
        raise click.ClickException(f"{missing_file(path.name, path.parent)}.") from error
    except OSError as error:
        raise click.ClickException(f"{path}: {error.strerror}.") from error
    except Exception as error:
        raise click.ClickException(f"{path} {NO_NOTEBOOK}.") from error


def judge(exercise: str, cell: Any, explanation: str) -> ExerciseResult:
    """Return an exercise's result from its check cell's output, as the student would see it."""
    printed = ESCAPES.sub("", "".join(o.text for o in cell.outputs if o.output_type == "stream"))
    error = error_of(cell)
    if not error:
        right = f"Exercise {exercise}: right. "
        lines = printed.strip().splitlines()
        # The cell may print more after its check, such as a comparison with a prediction.
        said = [line for line in lines if line.startswith(right)] or lines
        return ExerciseResult(exercise, "passed", "".join(said[-1:]).removeprefix(right))
    if explanation.startswith(GAPS):
        error = explanation  # the exercise's own cell raised it and defines nothing yet
    name, _, words = error.partition(": ")
    if name == "StillAGap" or error.startswith(GAPS):
        return ExerciseResult(exercise, "still a gap", words.partition(": ")[2] or words)
    if name == TOO_LONG:
        return ExerciseResult(exercise, "not yet", words)
    if name == "CheckFailed":
        return ExerciseResult(exercise, "not yet", words.removeprefix(f"Exercise {exercise}\n"))
    return ExerciseResult(exercise, "not yet", explanation)


def fault_of(cell: Any, said: str | None) -> Iterator[str]:
    """Yield the error of a cell that is not a check, if the student has to correct it.

    Other errors are not reported, because a cell may need the output of a job.
    """
    if not said or "check" in cell.metadata.tags:
        return
    if "setup" in cell.metadata.tags:
        yield f"setup cell `{cell.source.strip().splitlines()[0]} …`: {said}"
    elif error_of(cell).startswith(TOO_LONG):
        yield f"{name_of(cell)}: {said.removeprefix(f'{TOO_LONG}: ')}"
    elif error_of(cell).startswith(SYNTAX_ERRORS):
        yield said
