"""Write the files of a class, unless nothing has changed."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
from pathlib import Path

from autograder.classroom.class_settings import ClassSettings
from autograder.classroom.kept import code_key
from autograder.classroom.rows import Row
from autograder.report import canvas, leaderboard, moodle, tables
from autograder.report.back.records import read_record
from autograder.report.class_page.lesson import LESSONS
from autograder.report.class_page.page import (
    About,
    class_page,
    lesson_pages,
    requests_of,
    review_page,
)
from autograder.settings.roster import Person
from autograder.writing import write_if_new


@dataclass(frozen=True, slots=True)
class Exports:
    """The instructor's Canvas and Moodle files to fill in, and the leaderboard's pseudonyms."""

    canvas: Path | None = None
    moodle: tuple[Path, ...] = ()
    pseudonyms: Mapping[str, str] | None = None  # for the leaderboard


def write_all(
    rows: Sequence[Row],
    out: Path,
    people: Mapping[str, Person],
    settings: ClassSettings,
    exports: Exports,
) -> list[str]:
    """Write the files of a class. Return a sentence on each file that was filled in."""
    sentences = []
    about = About(people, settings.policy, settings.titles, heading=settings.heading)
    text = tables.as_json(rows, settings.profile, settings.heading)
    key = blake2b(f"{code_key()} {exports.canvas} {about}".encode("utf-8", "replace"))
    key.update(text.encode("utf-8", "replace"))
    made_before = _as_left(out, key.hexdigest())
    if exports.canvas:
        filled, sentence = canvas.filled(rows, people, exports.canvas)
        write_if_new(out / "canvas.csv", filled)
        sentences.append(sentence)
    elif not made_before:
        write_if_new(out / "canvas.csv", canvas.made(rows, people))
    if not made_before:
        requests = requests_of(rows, about.policy, partial(read_record, out))
        write_if_new(out / "index.html", class_page(rows, replace(about, requests=requests)))
        write_if_new(out / "review.html", review_page(rows, about))
        for place, page in lesson_pages(rows, about).items():
            write_if_new(out / place, page)
        write_if_new(out / "grades.csv", tables.grades_csv(rows, people))
        write_if_new(out / "checks.csv", tables.checks_csv(rows))
        write_if_new(out / "grades.json", text)
        write_if_new(out / "nbgrader.csv", tables.nbgrader_csv(rows, people))
        write_if_new(out / STATE, _state(out, key.hexdigest()))
    for worksheet in exports.moodle:
        filled, sentence = moodle.filled(rows, people, worksheet)
        write_if_new(out / moodle.filled_name(worksheet), filled)
        sentences.append(sentence)
    if exports.pseudonyms is not None:
        names, graded = (
            exports.pseudonyms,
            leaderboard.speed_graded(settings.rubrics, settings.profile),
        )
        made = leaderboard.boards(names, graded, rows, partial(read_record, out))
        write_if_new(out / "leaderboard.html", leaderboard.page(made, settings.heading))
        write_if_new(out / "leaderboard.csv", leaderboard.table(made))
        students = {*(row.student for row in rows), *people}
        sentences.append(leaderboard.sentence(names, made, students))
    return sentences


# If nothing changed, the tables are kept, because writing them takes longer than everything else.
STATE = ".tables"
TABLES = (
    "index.html",
    "review.html",
    "grades.csv",
    "checks.csv",
    "grades.json",
    "nbgrader.csv",
    "canvas.csv",
)


def _state(out: Path, key: str) -> str:
    """Return the tables' input hash and file metadata, to detect later changes."""
    pages = sorted((out / LESSONS).glob("*.html"))
    stats = [os.stat(path) for path in (*(out / name for name in TABLES), *pages)]
    return json.dumps([key, [(s.st_size, s.st_mtime_ns, s.st_ino) for s in stats]]) + "\n"


def _as_left(out: Path, key: str) -> bool:
    try:
        return (out / STATE).read_text() == _state(out, key)
    except OSError:
        return False
