"""Explain errors in cells and programs, with the line in the student's code."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lessons.edition.notebook_pages import CHECK_CALL
from lessons.folders import notebook_in

NO_NOTEBOOK = "is not a notebook (cut short, or not saved): open it and save it again"
ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
EXERCISE_NAME = re.compile(r"(?:exercise|check)-(\d+)-(\d+[a-z]?)")
IN_FILE = r"File (?P<file>.+?\.py):(?P<line>\d+)"
IN_CELL = r"Cell In\[(?P<count>\d+)\], line (?P<cell_line>\d+)"
FRAME = re.compile(rf"^\s*(?:{IN_FILE}|{IN_CELL})", re.M)  # of the kernel's traceback
PLACE = re.compile(r" \((?P<file>[^()]*), line (?P<line>\d+)\)$")  # of a syntax error
UNDEFINED = re.compile(r"NameError: name '(\w+)' is not defined")
NO_MODULE = re.compile(r"ModuleNotFoundError: No module named '(\w+)'$")
TOO_LONG = "TooLong"
SYNTAX_ERRORS = ("SyntaxError", "IndentationError", "TabError")
GAPS = tuple(f"NotImplementedError: {label}" for label in ("Exercise ", "Predict: ", "Answer: "))
# Messages of checks and gaps, which are printed unchanged.
SAID_BY_CHECKS = (*GAPS, "StillAGap", "CheckFailed", TOO_LONG)


def missing_file(name: str, folder: Path) -> str:
    return f"{name} is missing in {folder.name}: copy it there from the course again"


def error_of(cell: Any) -> str:
    for output in cell.outputs:
        if output.output_type == "error":
            return ESCAPES.sub("", f"{output.ename}: {output.evalue}")
    return ""


def name_of(cell: Any) -> str:
    """Return the name by which students know a cell: its exercise, setup, or its first line."""
    called = sorted(set(CHECK_CALL.findall(cell.source)))
    number = number_of(cell)
    if called:
        return f"exercise {', '.join(called)}"
    if number:
        return f"exercise {number}"
    tags = cell.metadata.get("tags", [])
    lines = cell.source.strip().splitlines() or [""]
    return "setup" if "setup" in tags else f"the cell `{lines[0]} …`"


def number_of(cell: Any) -> str:
    """Return 2.4 for a cell named exercise-2-4 or check-2-4."""
    named = EXERCISE_NAME.match(str(cell.metadata.get("nbgrader", {}).get("grade_id", "")))
    return f"{named[1]}.{named[2]}" if named else ""


def explained(cells: list[Any], folder: Path) -> Iterator[tuple[Any, str]]:
    """Yield each failed cell with a sentence that names the cell or file, and the line."""
    failed: list[tuple[Any, str]] = []
    for cell in cells:
        error = error_of(cell)
        if error:
            said = error
            if not error.startswith(SAID_BY_CHECKS):
                said = consequence(cell, error, failed) or located(cell, error, cells, folder)
            if not error.startswith(SAID_BY_CHECKS) or error.startswith(GAPS):
                failed.append((cell, said))
            yield cell, said


def consequence(cell: Any, error: str, failed: list[tuple[Any, str]]) -> str:
    """Return the error of the cell that should have defined a missing name, if that cell failed."""
    undefined = UNDEFINED.match(error)
    if not undefined or "check" not in cell.metadata.tags:
        return ""
    name = undefined[1]
    defines = re.compile(rf"\b(?:import\b.*|def|class)\s{name}\b|^\s*{name}\b.*=", re.M)
    for earlier, said in reversed(failed):
        own = number_of(earlier) in CHECK_CALL.findall(cell.source)
        if own or defines.search(earlier.source):
            return said
    return ""


def located(cell: Any, error: str, cells: list[Any], folder: Path) -> str:
    module = NO_MODULE.match(error)
    if module and is_named(f"{module[1]}.py", folder):
        return missing_file(f"{module[1]}.py", folder)
    kind, _, said = error.partition(": ")
    if kind in SYNTAX_ERRORS and PLACE.search(said):
        where, number, source = place_of_syntax(cell, folder)
    else:
        where, number, source = place_of_frame(cell, cells, folder)
    if not where:
        return error
    lines = source.splitlines()
    line = lines[number - 1].strip() if number <= len(lines) else ""
    said = PLACE.sub("", said)
    if said == "incomplete input":
        said += ", is a bracket or a quotation mark never closed?"
    return f"{kind} in {where}, line {number}: {said}" + (f"\n    {line}" if line else "")


def is_named(file: str, folder: Path) -> bool:
    """Return whether the lesson's texts mention this missing module as a program, not a package."""
    texts = [notebook_in(folder), *folder.glob("*.sbatch")]
    name = re.compile(rf"\b{re.escape(file)}")  # torch.py is no end of train_torch.py
    missing = not (folder / file).exists()
    return missing and any(name.search(text.read_text(errors="replace")) for text in texts)


def place_of_syntax(cell: Any, folder: Path) -> tuple[str, int, str]:
    """Return the place at the end of a syntax error's message, such as (train.py, line 1).

    For a notebook cell, the message ends in (12345.py, line 1).
    """
    found = PLACE.search(error_of(cell))
    assert found
    program = folder / found["file"]
    if program.is_file():
        return program.name, int(found["line"]), program.read_text(errors="replace")
    if "check" in cell.metadata.tags:
        return "", 0, ""
    return cell_name(cell), int(found["line"]), cell.source


def place_of_frame(cell: Any, cells: list[Any], folder: Path) -> tuple[str, int, str]:
    """Return the innermost frame of the student's own code, in a program or in a cell."""
    [output] = [output for output in cell.outputs if output.output_type == "error"][:1]
    counted = {one.get("execution_count"): one for one in cells if "check" not in one.metadata.tags}
    for frame in reversed(list(FRAME.finditer(ESCAPES.sub("", "\n".join(output.traceback))))):
        if frame["count"]:
            one = counted.get(int(frame["count"]))
            if one is not None:
                return cell_name(one), int(frame["cell_line"]), one.source
            continue
        # The cells ran in a copy of the folder, so only its name is the same.
        inside = frame["file"].rpartition(f"/{folder.name}/")[2]
        if inside != frame["file"] and (folder / inside).is_file():
            return inside, int(frame["line"]), (folder / inside).read_text(errors="replace")
    return "", 0, ""


def cell_name(cell: Any) -> str:
    name = name_of(cell)
    return name if name.startswith("the cell") else f"the cell of {name}"
