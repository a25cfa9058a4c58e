"""Make notebooks from py:percent text, with the cell metadata that nbgrader reads.

The bytes are reproducible, and inserting a cell changes no other cell's id.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from lessons.edition.gaps import Gap, SourceError, find_gaps, is_marker

CELL = re.compile(r"# %%(\s|$)")
CHECK_CALL = re.compile(r"\bcheck\(\s*\"(\d+\.\d+[a-z]?)\"")
LONGEST_CELL = 15
MOST_CODE_CELLS = 25

KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


def first_lines(text: str) -> list[int]:
    """Return the line number of each cell's `# %%` marker, counted from 1."""
    return [n for n, line in enumerate(text.splitlines(), start=1) if CELL.match(line)]


def read_pages(text: str, file: str) -> Any:
    """Return a notebook from py:percent text, without outputs, ids or metadata."""
    import jupytext
    import nbformat

    source = jupytext.reads(text, fmt="py:percent")
    if len(source.cells) != len(first_lines(text)):
        raise SourceError(file, 1, "there is text before the first `# %%`; put it into a cell.")
    notebook = nbformat.v4.new_notebook(metadata={"kernelspec": KERNEL})
    notebook.metadata["language_info"] = {"name": "python"}
    for cell in source.cells:
        new = nbformat.v4.new_code_cell if cell.cell_type == "code" else None
        page = new(cell.source) if new else nbformat.v4.new_markdown_cell(cell.source)
        if cell.metadata.get("tags"):
            page.metadata["tags"] = list(cell.metadata["tags"])
        if "hide-input" in page.metadata.get("tags", []):  # hides the code in the book
            page.metadata["jupyter"] = {"source_hidden": True}
        notebook.cells.append(page)
    return notebook


def name_cells(notebook: Any, lesson: str, gaps_of_cell: list[list[Gap]]) -> None:
    """Add ids and nbgrader metadata.

    The id of an exercise is its number. The id of any other cell is a hash of its text, so
    inserting or moving a cell changes no other id.
    """
    seen: Counter[str] = Counter()
    for cell, gaps in zip(notebook.cells, gaps_of_cell, strict=True):
        tags = cell.metadata.get("tags", [])
        call = CHECK_CALL.search(cell.source) if "check" in tags else None
        if gaps:
            name = gaps[0].name
        elif call:
            name = f"check-{call[1].replace('.', '-')}"
        else:
            said = f"{lesson}\0{cell.cell_type}\0{cell.source}".encode()
            name = hashlib.blake2b(said, digest_size=5).hexdigest()
        seen[name] += 1
        cell["id"] = name if seen[name] == 1 else f"{name}-{seen[name]}"
        if gaps:
            cell.metadata["nbgrader"] = nbgrader_cell(cell["id"], solution=True)
        elif call:
            cell.metadata["nbgrader"] = nbgrader_cell(cell["id"], solution=False)


def nbgrader_cell(grade_id: str, solution: bool) -> dict[str, Any]:
    """Return the nbgrader metadata of a cell.

    An exercise is a solution cell. A check is a locked test worth no points, because points come
    from the jobs' output.
    """
    cell: dict[str, Any] = {
        "schema_version": 3,
        "grade_id": grade_id,
        "grade": not solution,
        "locked": not solution,
        "solution": solution,
        "task": False,
    }
    return cell if solution else cell | {"points": 0}


def gaps_by_cell(text: str, file: str) -> list[list[Gap]]:
    """Return the gaps of each cell. A gap that reaches into another cell is an error."""
    starts = first_lines(text)
    cells: list[list[Gap]] = [[] for _ in starts]
    for gap in find_gaps(text, file):
        index = sum(start <= gap.begin for start in starts) - 1
        if index < 0 or sum(start <= gap.end for start in starts) - 1 != index:
            raise SourceError(file, gap.begin, "this gap runs past the end of its cell.")
        cells[index].append(gap)
    return cells


def lint_pages(text: str, notebook: Any, file: str, lesson: str) -> Iterator[str]:
    """Yield a sentence for each rule that a lesson's notebook violates."""
    cells, starts = notebook.cells, first_lines(text)
    if not cells or cells[0].cell_type != "markdown" or not cells[0].source.startswith("# "):
        line = starts[0] if starts else 1
        yield f"{file}:{line}: the first cell must be the title: markdown that begins with `# `."
    if len(cells) < 2 or "parameters" not in cells[1].metadata.get("tags", []):
        line = starts[1] if len(starts) > 1 else 1
        yield f'{file}:{line}: the cell after the title must be `# %% tags=["parameters"]`.'
    code = [cell for cell in cells if cell.cell_type == "code"]
    if len(code) > MOST_CODE_CELLS:
        yield f"{file}:1: {len(code)} code cells; a lesson may have at most {MOST_CODE_CELLS}."
    for index, (start, cell, gaps) in enumerate(
        zip(starts, cells, gaps_by_cell(text, file), strict=True)
    ):
        tags = cell.metadata.get("tags", [])
        where = f"{file}:{start}"
        if cell.cell_type != "code":
            if gaps:
                yield f"{where}: a gap in a text cell; only code can have gaps."
            continue
        lines = [line for line in cell.source.splitlines() if not is_marker(line)]
        if len(lines) > LONGEST_CELL:
            yield f"{where}: {len(lines)} lines of code; a cell may have at most {LONGEST_CELL}."
        if "parameters" in tags and index != 1:
            yield (
                f"{where}: this is a second `parameters` cell; only one, after the title, is "
                "allowed."
            )
        if bool(gaps) != ("exercise" in tags):
            yield f"{where}: the tag `exercise` and a gap belong together; one of them is missing."
        if ("check" in tags) != bool(CHECK_CALL.search(cell.source)):
            yield f"{where}: the tag `check` and a call of `course.check` belong together."


def checked_exercises(notebook: Any) -> set[str]:
    """Return the numbers of the exercises that have a check cell: {"2.1", …}."""
    cells = (cell for cell in notebook.cells if "check" in cell.metadata.get("tags", []))
    return {number for cell in cells for number in CHECK_CALL.findall(cell.source)}
