"""Everything that is written once for a class, and not again when nothing changed."""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from hashlib import blake2b
from pathlib import Path
from types import MappingProxyType

from autograder.classroom.kept import code_key
from autograder.classroom.rows import Row
from autograder.report import canvas, leaderboard, moodle, tables
from autograder.report.back.records import read_record
from autograder.report.class_page.page import About, class_page, requests_of
from autograder.writing import write_if_new

NOTHING: leaderboard.Graded = MappingProxyType({})


def write_all(
    rows: Sequence[Row],
    out: Path,
    profile: str,
    about: About,
    canvas_export: Path | None = None,
    moodle_worksheets: Iterable[Path] = (),
    names: Mapping[str, str] | None = None,
    graded: leaderboard.Graded = NOTHING,
) -> list[str]:
    """Says what was filled in of the instructor's own files, a sentence for each; `names`: the
    pseudonyms of those who want to be on the leaderboard; `graded`: the runs that stand there."""
    said = []
    people = about.people
    text = tables.as_json(rows, profile)
    key = blake2b(f"{code_key()} {canvas_export} {about}".encode("utf-8", "replace"))
    key.update(text.encode("utf-8", "replace"))
    made_before = _as_left(out, key.hexdigest())
    if canvas_export:
        filled, sentence = canvas.filled(rows, people, canvas_export)
        write_if_new(out / "canvas.csv", filled)
        said.append(sentence)
    elif not made_before:
        write_if_new(out / "canvas.csv", canvas.made(rows, people))
    if not made_before:
        requests = requests_of(rows, about.policy, partial(read_record, out))
        write_if_new(out / "index.html", class_page(rows, replace(about, requests=requests)))
        write_if_new(out / "grades.csv", tables.grades_csv(rows, people))
        write_if_new(out / "checks.csv", tables.checks_csv(rows))
        write_if_new(out / "grades.json", text)
        write_if_new(out / "nbgrader.csv", tables.nbgrader_csv(rows, people))
        write_if_new(out / STATE, _state(out, key.hexdigest()))
    for worksheet in moodle_worksheets:
        filled, sentence = moodle.filled(rows, people, worksheet)
        write_if_new(out / moodle.filled_name(worksheet), filled)
        said.append(sentence)
    if names is not None:
        made = leaderboard.boards(names, graded, rows, partial(read_record, out))
        write_if_new(out / "leaderboard.html", leaderboard.page(made))
        write_if_new(out / "leaderboard.csv", leaderboard.table(made))
        known = {*(row.student for row in rows), *people}
        said.append(leaderboard.sentence(names, made, known))
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
