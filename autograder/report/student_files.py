"""Write the files of one student: a page, a record, and files for other systems."""

import json
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from pydantic_core import to_json

from autograder.classroom.class_settings import ClassSettings
from autograder.classroom.kept import PAGES
from autograder.classroom.late_days import only_by_hand
from autograder.classroom.one_unit import Publish
from autograder.classroom.rows import Row
from autograder.codes import GradeStatus
from autograder.report import gradescope, html, junit, programs
from autograder.report.back.records import RECORDS, read_record, record_file
from autograder.report.class_page import matrix
from autograder.report.leaderboard import speed_graded
from autograder.report.student.not_handed_in import not_handed_in
from autograder.report.student.requests import requests_of_student
from autograder.safe_text import file_name, printable, readable_name
from autograder.verdict import Grade
from autograder.writing import write_if_new

Missing = Mapping[str, Mapping[str, float]]  # student -> lesson that others submitted -> points
MISSING = ".missing"  # the missing lessons listed on the students' pages
FOLDERS = {PAGES: ".html", RECORDS: ".json", "junit": ".xml"}  # of the files of one student


def publisher(
    settings: ClassSettings,
    out: Path | None,
    with_junit: bool,
    gradescope_results: Path | None = None,
    gradescope_leaderboard: bool = False,
    missing: Missing = MappingProxyType({}),
) -> Publish:
    """Return a function that writes all of a student's files."""
    speeds = speed_graded(settings.rubrics, settings.profile) if gradescope_leaderboard else None

    def publish(student: str, grades: Sequence[Grade], page: str) -> None:
        if gradescope_results:
            write_if_new(gradescope_results, gradescope.document(grades, speeds))
        if out is None:
            return
        name = readable_name(settings.names.get(student) or student)
        write_if_new(out / PAGES / page, page_of(student, grades, settings, missing))
        programs.write(out, page, name, grades, settings.heading)
        data = {"format": 1, "student": printable(student), "grades": grades}
        record = to_json(data, indent=1, inf_nan_mode="strings").decode() + "\n"
        write_if_new(record_file(out, page), record)
        if with_junit:
            path = out / "junit" / Path(page).with_suffix(".xml").name
            write_if_new(path, junit.document(student, grades))

    return publish


def page_of(
    student: str, grades: Sequence[Grade], settings: ClassSettings, missing: Missing
) -> str:
    name = readable_name(settings.names.get(student) or student)
    requests = requests_of_student(student, grades, settings.policy)
    mine = missing.get(printable(student), {})
    absent = not_handed_in(student, grades, settings.policy, mine)
    curves, heading = settings.curves, settings.heading
    return html.student_page(name, grades, curves, requests, absent, heading=heading)


def with_pages_of_absent(
    rows: Sequence[Row], people: Collection[str], settings: ClassSettings, publish: Publish
) -> list[Row]:
    """Write a page for each student in the roster without one, and return the updated rows."""
    there = {row.student for row in rows if row.page}
    missing = {row.student for row in rows} - there
    pages = {}
    for student in people:
        if (name := printable(student)) in missing:
            pages[name] = f"{file_name(student)}.html"
            publish(student, only_by_hand(student, (), settings), pages[name])
    return [replace(row, page=pages.get(row.student, row.page)) for row in rows]


# --- what only the whole class shows ------------------------------------------------------------


def missing_lessons(rows: Sequence[Row], settings: ClassSettings) -> Missing:
    """Return the lessons that count towards a student's points but are missing from their page."""
    absent = {
        (row.student, row.lesson)
        for row in rows
        if row.status == GradeStatus.MISSING and not row.page
    }
    if not absent:
        return {}
    found: dict[str, dict[str, float]] = {}
    columns, lines = matrix.table(rows, {}, settings.policy)
    for line in lines:
        for column, cell in zip(columns, line.cells, strict=True):
            if cell.most and (line.student, column.lesson) in absent:
                found.setdefault(line.student, {})[column.lesson] = cell.most
    return found


def update_pages(
    people: Collection[str], missing: Missing, out: Path, settings: ClassSettings
) -> None:
    """Rewrite the pages of students whose missing lessons have changed.

    Each page is made when its student is graded, before the other submissions are known.
    """
    before = read_state(out / MISSING)
    now = {}
    for student in people:
        name = f"{file_name(student)}.html"
        mine = missing.get(printable(student), {})
        page = out / PAGES / name
        if not (mine or name in before) or not page.exists():
            continue
        if before.get(name) != [mine, facts_of(page)]:
            write_if_new(page, page_of(student, read_record(out, name), settings, missing))
        if mine:
            now[name] = [mine, facts_of(page)]
    write_if_new(out / MISSING, json.dumps(now) + "\n")


def facts_of(page: Path) -> list[int]:
    info = os.stat(page)
    return [info.st_size, info.st_mtime_ns, info.st_ino]


def read_state(path: Path) -> dict[str, list]:
    try:
        return dict(json.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError):
        return {}
