"""Write the files of one student: a page, a record, and files for other systems."""

import json
import os
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pydantic_core import to_json

from autograder.classroom.class_settings import ClassSettings
from autograder.classroom.kept import PAGES
from autograder.classroom.late_days import only_by_hand
from autograder.classroom.one_unit import Publish
from autograder.classroom.rows import Row
from autograder.codes import GradeStatus
from autograder.report import gradescope, programs
from autograder.report.back.records import RECORDS, read_record, record_file
from autograder.report.class_page import matrix
from autograder.report.student.not_handed_in import not_handed_in
from autograder.report.student.page import student_page
from autograder.safe_text import file_name, printable, readable_name
from autograder.verdict import Grade
from autograder.writing import write_if_new

Missing = Mapping[str, Mapping[str, float]]  # student -> missing lesson -> its points, or 0
MISSING = ".missing"  # missing lessons that the students' pages already show
FOLDERS = {PAGES: ".html", RECORDS: ".json"}  # of the files of one student


def publisher(
    settings: ClassSettings,
    out: Path | None,
    gradescope_results: Path | None = None,
    missing: Missing = MappingProxyType({}),
) -> Publish:
    """Return a function that writes all of a student's files."""

    def publish(student: str, grades: Sequence[Grade], page: str) -> None:
        if gradescope_results:
            write_if_new(gradescope_results, gradescope.document(grades))
        if out is None:
            return
        name = readable_name(settings.names.get(student) or student)
        write_if_new(out / PAGES / page, page_of(student, grades, settings, missing))
        programs.write(out, page, name, grades, settings.heading)
        data = {"format": 1, "student": printable(student), "grades": grades}
        record = to_json(data, indent=1, inf_nan_mode="strings").decode() + "\n"
        write_if_new(record_file(out, page), record)

    return publish


def page_of(
    student: str, grades: Sequence[Grade], settings: ClassSettings, missing: Missing
) -> str:
    name = readable_name(settings.names.get(student) or student)
    mine = missing.get(printable(student), {})
    counted = {lesson: points for lesson, points in mine.items() if points}
    absent = not_handed_in(student, grades, settings.policy, counted)
    uncounted, curves = mine.keys() - counted.keys(), settings.curves
    return student_page(name, grades, curves, absent, uncounted, heading=settings.heading)


# --- what only the whole class shows ------------------------------------------------------------


def missing_lessons(rows: Sequence[Row], settings: ClassSettings) -> Missing:
    """Return the missing lessons whose points on a student's page depend on the rest of the class.

    A lesson that was not submitted counts if other students submitted it. One that could not be
    graded counts unless it is dropped or never due.
    """
    on_page = {
        (row.student, row.lesson): bool(row.page)
        for row in rows
        if row.status == GradeStatus.MISSING
    }
    found = defaultdict[str, dict[str, float]](dict)
    columns, lines = matrix.table(rows, {}, settings.policy)
    for line in lines:
        for column, cell in zip(columns, line.cells, strict=True):
            alone = on_page.get((line.student, column.lesson))
            if alone is not None and alone != bool(cell.most):
                found[line.student][column.lesson] = cell.most
    return found


def finish_pages(
    rows: Sequence[Row],
    people: Collection[str],
    settings: ClassSettings,
    out: Path,
) -> list[Row]:
    """Add missing lessons to pages, and write a page for each student on the roster who has none.

    A student's page is made when that student is graded, before the other submissions are known.
    Return the rows with the new pages.
    """
    missing = missing_lessons(rows, settings)
    publish = publisher(settings, out, missing=missing)
    pages = {row.student: row.page for row in rows if row.page}
    without_page = {row.student for row in rows} - pages.keys()
    before, now, added = read_state(out / MISSING), {}, {}
    for student in (*people, *sorted(pages.keys() - {printable(one) for one in people})):
        name = printable(student)
        page = pages.get(name, f"{file_name(student)}.html")
        path, mine = out / PAGES / page, missing.get(name, {})
        changed = (mine or page in before) and before.get(page) != [mine, facts_of(path)]
        if name in without_page:
            added[name] = page
            publish(student, only_by_hand(student, (), settings), page)
        elif changed and path.exists():
            write_if_new(path, page_of(student, read_record(out, page), settings, missing))
        if mine:
            now[page] = [mine, facts_of(path)]
    write_if_new(out / MISSING, json.dumps(now) + "\n")
    return [replace(row, page=added.get(row.student, row.page)) for row in rows]


def facts_of(page: Path) -> list[int]:
    """Return facts that change when a file is rewritten. They are empty if there is no file."""
    try:
        info = os.stat(page)
    except OSError:
        return []
    return [info.st_size, info.st_mtime_ns, info.st_ino]


def read_state(path: Path) -> dict[str, Any]:
    try:
        return dict(json.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError):
        return {}
