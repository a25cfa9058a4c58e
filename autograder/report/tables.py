"""Tables for spreadsheets and programs, and everything that is written once for a class."""

import csv
import io
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path

from pydantic_core import to_json

from autograder.classroom.class_run import code_key
from autograder.classroom.policy import handed_in_at
from autograder.classroom.rows import Row
from autograder.report import canvas, html, moodle
from autograder.safe_text import csv_cell
from autograder.settings.roster import Person
from autograder.verdict import NO_LESSON
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
    text = as_json(rows, profile)
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
        write_if_new(out / "grades.csv", grades_csv(rows, people))
        write_if_new(out / "checks.csv", checks_csv(rows))
        write_if_new(out / "grades.json", text)
        write_if_new(out / "nbgrader.csv", nbgrader_csv(rows, people))
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


def to_csv(lines: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    for line in lines:
        writer.writerow([csv_cell("" if cell is None else cell) for cell in line])
    return text.getvalue()


def grades_csv(rows: Sequence[Row], people: Mapping[str, Person]) -> str:
    header = (
        "student name email lesson score max_score raw_score status evidence look adjustments "
        "epoch_s speedup"
    )
    lines: list[Sequence[object]] = [header.split()]
    for row in rows:
        person = people.get(row.student, Person(row.student))
        lines.append(
            (
                row.student,
                person.full_name,
                person.email,
                row.lesson,
                row.score,
                row.max_score,
                row.raw_score,
                row.status,
                row.tier,
                "; ".join(row.look),
                "; ".join(row.adjustments),
                row.epoch_s,
                row.speedup,
            )
        )
    return to_csv(lines)


def checks_csv(rows: Sequence[Row]) -> str:
    lines: list[Sequence[object]] = [("student", "lesson", "check", "score", "points", "status")]
    lines += [(row.student, row.lesson, *check) for row in rows for check in row.checks]
    return to_csv(lines)


def as_json(rows: Sequence[Row], profile: str) -> str:
    data = {"format": 1, "profile": profile, "grades": rows}
    return to_json(data, indent=1, inf_nan_mode="strings").decode() + "\n"


def nbgrader_csv(rows: Sequence[Row], people: Mapping[str, Person]) -> str:
    """The columns of nbgrader's own gradebook export."""
    header = (
        "assignment,duedate,timestamp,student_id,last_name,first_name,email,raw_score,"
        "late_submission_penalty,score,max_score"
    )
    lines: list[Sequence[object]] = [header.split(",")]
    for row in rows:
        if row.status == "excused" or row.lesson == NO_LESSON:
            continue
        person = people.get(row.student, Person(row.student))
        moment = handed_in_at(row.handed_in)
        lines.append(
            (
                f"{row.lesson} {row.title}".strip(),
                None,
                moment.isoformat(" ") if moment else None,
                row.student,
                person.last_name,
                person.first_name,
                person.email,
                # What an override changed is no matter of time: nbgrader's own score minus penalty.
                None if row.score is None else round(row.score + row.late_points, 2),
                None if row.score is None else row.late_points,
                row.score,
                row.max_score,
            )
        )
    return to_csv(lines)
