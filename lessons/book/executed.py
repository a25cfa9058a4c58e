"""Find the outputs of executed lessons, or explain in one sentence why there are none."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lessons.execute.plan import read_lesson
from lessons.folders import made_by_hand, notebook_in


@dataclass(frozen=True)
class Executed:
    """A lesson that ran to its end with the current files."""

    outputs: tuple[list[Any], ...]  # the outputs of each cell, in order
    profile: str
    date: str  # date of the run, such as 2026-11-23


def look_up(runs: Path, source: Path) -> Executed | str:
    """Return the executed lesson for `source`, a folder of solutions/.

    If it cannot be used, return a sentence that says why.
    """
    import nbformat

    name = source.name
    folder = runs / name
    if not notebook_in(folder).is_file():
        return f"{name} was not executed: there is no {runs / name}/{name}.ipynb."
    try:
        notebook = nbformat.read(notebook_in(folder), as_version=4)
    except Exception as error:
        return f"{name}: its executed notebook cannot be read: {str(error)[:100]}."
    ours = [c for c in notebook.cells if "injected-parameters" not in c.metadata.get("tags", [])]
    code = [cell.metadata.get("papermill", {}) for cell in ours if cell.cell_type == "code"]
    for number, facts in enumerate(code, start=1):
        if facts.get("exception") or not facts.get("end_time"):
            return f"{name} did not run to its end: it stopped in cell {number} of {len(code)}."
    if changed := next(changes(folder, source, ours), None):
        return f"{name} was executed before {changed} changed."
    facts = notebook.metadata.get("papermill", {})
    return Executed(
        tuple(list(cell.get("outputs", [])) for cell in ours),
        str(facts.get("parameters", {}).get("profile", "smoke")),
        str(facts.get("start_time") or "")[:10],
    )


def changes(folder: Path, source: Path, cells: list[Any]) -> Iterator[Path]:
    """Yield the lesson's files that have changed since it was executed."""
    if [cell.source for cell in cells] != [cell.source for cell in read_lesson(source).cells]:
        yield Path("lesson.py")
    for relative in made_by_hand(source):
        ran = folder / relative
        same = ran.is_file() and ran.read_bytes() == (source / relative).read_bytes()
        if relative.name != "lesson.py" and not same:
            yield relative
