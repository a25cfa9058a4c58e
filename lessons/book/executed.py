"""Find the outputs of executed lessons, or explain in one sentence why there are none."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.reading.files import read_files
from lessons.execute.plan import read_lesson
from lessons.folders import made_by_hand, notebook_in


@dataclass(frozen=True)
class Executed:
    """A lesson that ran to its end with the current files."""

    outputs: tuple[list[Any], ...]  # the outputs of each cell, in order
    profile: str
    date: str  # date of the run, such as 2026-11-23
    devices: tuple[str, ...]  # hardware named in the records of its jobs


def look_up(runs: Path, source: Path) -> Executed | str:
    """Return the executed lesson for `source`, a folder of solutions/.

    If it cannot be used, return a sentence that says why.
    """
    import nbformat

    name = source.name
    # With --batch, a lesson runs inside its own job and is in the second folder.
    folders = (runs / name, runs / f"{name}_job" / name)
    folder = next((one for one in folders if notebook_in(one).is_file()), None)
    if folder is None:
        return f"{name} was not executed: there is no {runs / name}/{name}.ipynb."
    try:
        notebook = nbformat.read(notebook_in(folder), as_version=4)
    except Exception as error:
        return f"{name}: its executed notebook cannot be read: {str(error)[:100]}."
    ours = [c for c in notebook.cells if "injected-parameters" not in c.metadata.get("tags", [])]
    if problem := summed_up(runs, name) or failed(name, ours) or changed(folder, source, ours):
        return problem
    facts = notebook.metadata.get("papermill", {})
    return Executed(
        tuple(list(cell.get("outputs", [])) for cell in ours),
        str(facts.get("parameters", {}).get("profile", "smoke")),
        str(facts.get("start_time") or "")[:10],
        devices(folder),
    )


def summed_up(runs: Path, name: str) -> str | None:
    """Return a sentence if the run's summary reports a failure.

    A failure may have cut a cell short.
    """
    try:
        lessons = json.loads((runs / "summary.json").read_text(encoding="utf-8"))["lessons"]
    except (OSError, ValueError, KeyError):
        return None  # a folder without a summary: only the notebook shows it
    for lesson in lessons:
        if lesson["lesson"] == name and lesson["status"] != "passed":
            reason = (lesson["error"].splitlines() or ["no reason given"])[0]
            return f"{name} did not run to its end: {lesson['status']}, {reason}."
    return None


def failed(name: str, cells: list[Any]) -> str | None:
    """Return an error sentence if a cell raised an error or was not executed."""
    code = [cell for cell in cells if cell.cell_type == "code"]
    for number, cell in enumerate(code, start=1):
        facts = cell.metadata.get("papermill", {})
        if facts.get("exception") or not facts.get("end_time"):
            return f"{name} did not run to its end: it stopped in cell {number} of {len(code)}."
    return None


def changed(folder: Path, source: Path, cells: list[Any]) -> str | None:
    """Return a sentence if the lesson ran from files that have changed since."""
    now = read_lesson(source)
    for old, new in zip(cells, now.cells, strict=False):
        if old.source != new.source:
            first = next(iter(new.source.splitlines()), "")
            return f"{source.name} was executed before lesson.py changed, at “{first}”."
    if len(cells) != len(now.cells):
        return f"{source.name} was executed before lesson.py changed, at its end."
    for relative in made_by_hand(source):
        ran = folder / relative
        if relative.name == "lesson.py":
            continue
        if not ran.is_file() or ran.read_bytes() != (source / relative).read_bytes():
            return f"{source.name} was executed before {relative} changed."
    return None


def devices(folder: Path) -> tuple[str, ...]:
    records = read_files(sorted(folder.glob("*.out")))
    return tuple(sorted({run.header.device for run in records if run.header.device}))
