"""Write the book's source: lessons with outputs, programs and docs, in the repository's layout."""

import re
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from lessons.book import outputs, withheld
from lessons.book.alt_texts import alt_text
from lessons.book.executed import Executed
from lessons.edition.build import Edition, solution_notebook
from lessons.folders import lesson_folders, made_by_hand

Rewrite = Callable[[str], str]
FRONT = Path(__file__).with_name("front.md")
LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]+)")
LANGUAGES = {".py": "python", ".sbatch": "bash", ".sh": "bash"}  # the files that get a page
PROGRAM = """\
# {file} of lesson {number}

[Download](path:{file})

```{{literalinclude}} {file}
:language: {language}
:linenos:
```
"""
FILES = "## Files of this lesson\n\n```{{toctree}}\n{}\n```"


def write_source(
    root: Path, target: Path, edition: Edition, executed: Mapping[str, Executed], solutions: bool
) -> None:
    """Write the book's source.

    `edition` is the students' edition. `executed` maps the folder of each executed lesson to its
    outputs.
    """
    programs = [text for path, text in edition.files.items() if path.suffix in LANGUAGES]
    open_lines = None if solutions else set(b"\n".join(programs).decode().splitlines())
    for folder in lesson_folders(root / "solutions").values():
        if solutions:
            files = {one.as_posix(): (folder / one).read_bytes() for one in made_by_hand(folder)}
        else:
            own = [path for path in edition.files if path.parts[0] == folder.name]
            files = {path.relative_to(folder.name).as_posix(): edition.files[path] for path in own}
        write_lesson(root, target, folder, files, executed.get(folder.name), open_lines)
    write_docs(root, target)
    shutil.copyfile(FRONT, target / "index.md")


def write_lesson(
    root: Path,
    target: Path,
    folder: Path,
    files: Mapping[str, bytes],
    executed: Executed | None,
    open_lines: Collection[str] | None,
) -> None:
    """Write a lesson's page and a page for each program.

    `open_lines` are the lines of the students' programs; None if the book shows the solutions.
    """
    import nbformat
    from nbformat.v4 import new_markdown_cell

    name, number = folder.name, folder.name[:2]
    source = (folder / "lesson.py").read_text(encoding="utf-8")
    solved = solution_notebook(source, f"solutions/{name}/lesson.py", number)
    page = solution_notebook(source, f"solutions/{name}/lesson.py", number)
    if open_lines is not None:
        page = nbformat.reads(files[f"{name}.ipynb"].decode(), as_version=4)
    place = target / "lessons" / name
    place.mkdir(parents=True)
    programs = [file for file in files if Path(file).suffix in LANGUAGES and file != "lesson.py"]
    for file in programs:
        (place / file).parent.mkdir(parents=True, exist_ok=True)
        (place / file).write_bytes(files[file])
        language = LANGUAGES[Path(file).suffix]
        about = PROGRAM.format(file=Path(file).name, number=number, language=language)
        (place / f"{file}.md").write_text(about, encoding="utf-8")
    expected = withheld.expected_numbers(root, page, number)
    rewrite = withheld.rewriter(open_lines, expected) if open_lines is not None else None
    ran = executed.outputs if executed else ([],) * len(page.cells)
    for cell, solution, printed in zip(page.cells, solved.cells, ran, strict=True):
        fill(cell, solution, printed, rewrite)
    page.cells[0].source += "\n\n" + run_note(executed)
    page.cells.append(new_markdown_cell(FILES.format("\n".join(programs)), id="files"))
    nbformat.write(page, place / "lesson.ipynb")


def fill(cell: Any, solution: Any, printed: list[Any], rewrite: Rewrite | None) -> None:
    """Put the outputs of a cell's solution below the cell."""
    from nbformat import from_dict

    if cell.cell_type == "markdown":
        return
    if rewrite and withheld.value_of_gap(solution.source):
        printed = [output for output in printed if output["output_type"] != "execute_result"]
    cell.outputs = [from_dict(output) for output in outputs.in_the_book(printed, rewrite or str)]
    cell.metadata = {"tags": cell.metadata.get("tags", [])}
    if any("image/png" in output.get("data", {}) for output in cell.outputs):
        cell.metadata["mystnb"] = {"image": {"alt": alt_text(solution.source)}}


def run_note(executed: Executed | None) -> str:
    """Return one line about the origin of the outputs, to show below the title."""
    note = "This lesson was not executed for this book: its cells have no outputs."
    if executed:
        note = f"Executed on {executed.date}, in the size `{executed.profile}`, with the solutions."
    return f":::{{container}} run-note\n{note}\n:::"


def write_docs(root: Path, target: Path) -> None:
    """Write the pages of docs/, and the pages and files elsewhere that they link to."""
    shutil.copytree(root / "docs", target / "docs")
    for file in (root / "docs").glob("*.md"):
        for link in set(LINK.findall(file.read_text(encoding="utf-8"))):
            other = (file.parent / link).resolve()
            place = target / other.relative_to(root)
            if other.is_file() and not place.exists():
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(other, place)


def readable_source(target: Path) -> Iterator[tuple[str, str]]:
    """Yield every text of the book with its name, so that solutions can be searched for."""
    import nbformat

    for file in sorted(path for path in target.rglob("*") if path.is_file()):
        text = ""
        if file.suffix == ".ipynb":
            for cell in nbformat.read(file, as_version=4).cells:
                outs = [withheld.plain(output) for output in cell.get("outputs", [])]
                text += "\n".join([cell.source, *outs, ""])
        else:
            text = file.read_text(encoding="utf-8", errors="replace")
        yield str(file.relative_to(target)), text
