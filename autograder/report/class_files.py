"""Everything that is written once for a class, and not again when nothing changed."""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path

from autograder.classroom.kept import code_key
from autograder.classroom.rows import Row
from autograder.report import canvas, html, moodle, tables
from autograder.settings.roster import Person
from autograder.writing import write_if_new


def write_all(
    rows: Sequence[Row],
    out: Path,
    profile: str,
    people: Mapping[str, Person],
    canvas_export: Path | None = None,
    moodle_worksheets: Iterable[Path] = (),
) -> list[str]:
    """Says what was filled in of the instructor's own files, a sentence for each."""
    said = []
    text = tables.as_json(rows, profile)
    key = blake2b(f"{code_key()} {canvas_export} {people}".encode("utf-8", "replace"))
    key.update(text.encode("utf-8", "replace"))
    made_before = _as_left(out, key.hexdigest())
    if canvas_export:
        filled, sentence = canvas.filled(rows, people, canvas_export)
        write_if_new(out / "canvas.csv", filled)
        said.append(sentence)
    elif not made_before:
        write_if_new(out / "canvas.csv", canvas.made(rows, people))
    if not made_before:
        write_if_new(out / "index.html", html.class_page(rows, people))
        write_if_new(out / "grades.csv", tables.grades_csv(rows, people))
        write_if_new(out / "checks.csv", tables.checks_csv(rows))
        write_if_new(out / "grades.json", text)
        write_if_new(out / "nbgrader.csv", tables.nbgrader_csv(rows, people))
        write_if_new(out / STATE, _state(out, key.hexdigest()))
    for worksheet in moodle_worksheets:
        filled, sentence = moodle.filled(rows, people, worksheet)
        write_if_new(out / moodle.filled_name(worksheet), filled)
        said.append(sentence)
    return said


# A class in which nothing changed keeps its tables; making them takes longer than all the rest.
STATE = ".tables"
TABLES = ("index.html", "grades.csv", "checks.csv", "grades.json", "nbgrader.csv", "canvas.csv")


def _state(out: Path, key: str) -> str:
    """What the tables were made of, and what tells whether somebody changed them since."""
    seen = [os.stat(out / name) for name in TABLES]
    return json.dumps([key, [(s.st_size, s.st_mtime_ns, s.st_ino) for s in seen]]) + "\n"


def _as_left(out: Path, key: str) -> bool:
    try:
        return (out / STATE).read_text() == _state(out, key)
    except OSError:
        return False
