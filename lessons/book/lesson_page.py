"""Make the pages of a lesson: its notebook with outputs, and a page per program and job file."""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lessons.book import outputs, withheld
from lessons.book.alt_texts import alt_text
from lessons.book.cross_links import below_the_title, linked
from lessons.book.executed import Executed

NOTEBOOK = "lesson.ipynb"
LANGUAGES = {".py": "python", ".sbatch": "bash", ".sh": "bash"}
NO_TEXT = (".gz",)  # recorded data, which has no page to read


def lesson_page(
    name: str,
    page: Any,
    solved: Any,
    executed: Executed | None,
    files: Mapping[Path, bytes],
    lessons: Mapping[str, str],
    expected: list[float] | None,
) -> Any:
    """Return the notebook `page` with outputs, links and a list of its files.

    `solved` is the executed notebook with the solutions. `expected` contains the answers that the
    book withholds; it is None if the book shows the solutions.
    """
    programs = [path.relative_to(name).as_posix() for path in files if path.parts[0] == name]
    programs = [file for file in programs if file != NOTEBOOK and not file.endswith(NO_TEXT)]
    nothing: tuple[list[Any], ...] = ([],) * len(page.cells)
    ran = executed.outputs if executed else nothing
    for cell, solution, printed in zip(page.cells, solved.cells, ran, strict=True):
        if cell.cell_type == "markdown":
            text = cell.source if cell is page.cells[0] else below_the_title(cell.source)
            cell.source = linked(text, programs, lessons)
            continue
        if expected is not None and withheld.value_of_gap(solution.source):
            printed = [output for output in printed if output["output_type"] != "execute_result"]
        cell.outputs = notebook_outputs(
            outputs.in_the_book(printed, lambda text: seen(text, name, files, expected))
        )
        tags = cell.metadata.get("tags", [])
        cell.metadata = {"tags": [*tags, *scroll(cell.outputs)]}
        if any("image/png" in output.get("data", {}) for output in cell.outputs):
            cell.metadata["mystnb"] = {"image": {"alt": alt_text(solution.source)}}
    page.cells[0].source += "\n\n" + run_note(executed, solutions=expected is None)
    page.cells.append(files_cell(programs, name, files))
    return page


def seen(text: str, name: str, files: Mapping[Path, bytes], expected: list[float] | None) -> str:
    if expected is None:
        return text
    return withheld.without_answers(withheld.program_text(text, name, files), expected)


def notebook_outputs(shown: Iterator[Any]) -> list[Any]:
    from nbformat import from_dict

    return [from_dict(output) for output in shown]


def scroll(shown: list[Any]) -> list[str]:
    return ["output_scroll"] if outputs.is_long(shown) else []


def run_note(executed: Executed | None, solutions: bool) -> str:
    """Return one line about the origin of the outputs, to show below the title."""
    if executed is None:
        said = "This lesson was not executed for this book: its cells have no outputs."
    else:
        where = " and ".join(executed.devices) or "an unknown device"
        said = f"Executed on {executed.date}, in the size `{executed.profile}`, on: {where}."
        if not solutions:
            said += (
                "The output below each cell comes from the solution. Replace each "
                "`NotImplementedError` with your own code."
            )
    return f":::{{container}} run-note\n{said} [The files](#files-of-this-lesson)\n:::"


def files_cell(programs: list[str], name: str, files: Mapping[Path, bytes]) -> Any:
    from nbformat.v4 import new_markdown_cell

    rows = [f"| [{one}]({one}.md) | {about(one, files[Path(name) / one])} |" for one in programs]
    notebook = f"| {{download}}`{name}.ipynb <notebook/{name}.ipynb>` | this page, to work in |"
    table = "\n".join(["| file | what it is |", "|---|---|", notebook, *rows])
    entries = [f"{one} <{one}.md>" for one in programs]
    tree = "\n".join(["```{toctree}", ":hidden:", "", *entries, "```"])
    return new_markdown_cell(f"## Files of this lesson\n\n{table}\n\n{tree}", id="files")


def about(file: str, content: bytes) -> str:
    """Return a short description of a file: its first line, or a job file's number of tasks."""
    text = content.decode(errors="replace")
    if file.endswith(".py"):
        said = ast.get_docstring(ast.parse(text)) or ""
        return said.partition("\n")[0].replace("|", "\\|")
    if file.endswith(".sbatch"):
        last = [line for line in text.splitlines() if line.strip()][-1]
        return f"a job: `{last.strip()[:90]}`"
    return ""


def program_page(file: str, content: bytes, number: str) -> str:
    """Return a page that shows a file. None of the file's text is interpreted as markup.

    Many lessons have a train.py. The lesson's number tells them apart in search results and in a
    browser's tabs.
    """
    language = LANGUAGES.get(Path(file).suffix, "text")
    return "\n".join(
        [
            f"# {file} of lesson {number}\n",
            f"A file of []({NOTEBOOK}). [Download](path:{file})\n",
            f"```{{literalinclude}} {file}\n:language: {language}\n:linenos:\n```\n",
        ]
    )
