"""Write the book's source as a folder with the repository's layout, so that relative links work."""

import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lessons.book.cross_links import linked
from lessons.book.executed import Executed
from lessons.book.front_page import front_page
from lessons.book.glossary import glossary_page
from lessons.book.lesson_page import NO_TEXT, NOTEBOOK, lesson_page, program_page
from lessons.book.withheld import expected_numbers
from lessons.edition.build import Edition, solution_notebook
from lessons.folders import lesson_folders, made_by_hand

STUDENTS_TITLE = "# Deep Learning on Supercomputers"
LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]+)")


def write_source(
    root: Path, target: Path, edition: Edition, executed: Mapping[str, Executed], solutions: bool
) -> None:
    """Write the book's source.

    `edition` is the students' edition. `executed` maps the folder of each executed lesson to its
    outputs.
    """
    folders = lesson_folders(root / "solutions")
    pages = {}
    for folder in folders.values():
        files = solved_files(folder) if solutions else students_files(edition.files, folder.name)
        page = write_lesson(root, target, folder, files, executed.get(folder.name), solutions)
        pages[folder.name] = page
    docs, more = write_docs(root, target, seen_from("../lessons", folders))
    (target / "index.md").write_text(front_page(pages, docs, more), encoding="utf-8")


def seen_from(way: str, folders: Mapping[str, Path]) -> dict[str, str]:
    return {number: f"{way}/{folder.name}/{NOTEBOOK}" for number, folder in folders.items()}


def solved_files(folder: Path) -> dict[Path, bytes]:
    files = {folder.name / one: (folder / one).read_bytes() for one in made_by_hand(folder)}
    files[Path(folder.name) / NOTEBOOK] = files.pop(Path(folder.name) / "lesson.py")
    return files


def students_files(files: Mapping[Path, bytes], name: str) -> dict[Path, bytes]:
    """Return the students' files. The notebook gets the name that the book uses."""
    own = Path(name, f"{name}.ipynb")
    return {Path(name, NOTEBOOK) if path == own else path: files[path] for path in files}


def write_lesson(
    root: Path,
    target: Path,
    folder: Path,
    files: Mapping[Path, bytes],
    executed: Executed | None,
    solutions: bool,
) -> Any:
    import nbformat

    name, number = folder.name, folder.name[:2]
    source = (folder / "lesson.py").read_text(encoding="utf-8")
    solved = solution_notebook(source, f"solutions/{name}/lesson.py", number)
    page = solution_notebook(source, f"solutions/{name}/lesson.py", number)
    if not solutions:
        page = nbformat.reads(files[Path(name) / NOTEBOOK].decode(), as_version=4)
    place = target / "lessons" / name
    (place / "notebook").mkdir(parents=True)
    nbformat.write(page, place / "notebook" / f"{name}.ipynb")
    open_text = "\n".join(cell.source for cell in page.cells)
    expected = None if solutions else expected_numbers(root, number, open_text)
    ways = seen_from("..", lesson_folders(root / "solutions"))
    page = lesson_page(name, page, solved, executed, files, ways, expected)
    nbformat.write(page, place / NOTEBOOK)
    for path, content in files.items():
        if path.parts[0] != name or path.name == NOTEBOOK or path.name.endswith(NO_TEXT):
            continue
        file = target / "lessons" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        about = program_page(path.name, content, number)
        file.with_name(f"{path.name}.md").write_text(about, encoding="utf-8")
    return page


def write_docs(root: Path, target: Path, lessons: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """Write the pages of docs/, and the pages and files elsewhere that they link to."""
    (target / "docs").mkdir(parents=True)
    names, more = [], []
    for file in sorted((root / "docs").glob("*.md")):
        text = file.read_text(encoding="utf-8")
        for link in set(LINK.findall(text)):
            other = (file.parent / link).resolve()
            if other.parent == file.parent or not other.is_file():
                continue
            place = target / other.relative_to(root)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(other, place)
            if place.suffix == ".md":
                more.append(place.relative_to(target).with_suffix("").as_posix())
        text = glossary_page(text, lessons) if file.name == "glossary.md" else text
        text = linked(text, (), lessons)
        if file.name == "for-students.md":
            text = text.replace(STUDENTS_TITLE, "# A student's first hour", 1)
        (target / "docs" / file.name).write_text(text, encoding="utf-8")
        names.append(file.stem)
    return names, sorted(set(more))


def readable_source(target: Path) -> Iterator[tuple[str, str]]:
    """Yield every text of the book with its name, so that solutions can be searched for."""
    import nbformat

    for file in sorted(target.rglob("*")):
        if not file.is_file():
            continue
        if file.suffix != ".ipynb":
            yield str(file.relative_to(target)), file.read_text(encoding="utf-8", errors="replace")
            continue
        texts = []
        for cell in nbformat.read(file, as_version=4).cells:
            texts.append(cell.source)
            for output in cell.get("outputs", []):
                data = output.get("data", {})
                texts += [output.get("text", ""), data.get("text/plain", "")]
                texts += [data.get("text/markdown", "")]
        yield str(file.relative_to(target)), "\n".join(texts)
