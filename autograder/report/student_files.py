"""Write the files of one student: a page, a record, and files for other systems."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from pydantic_core import to_json

from autograder.classroom.class_settings import ClassSettings
from autograder.classroom.kept import PAGES
from autograder.classroom.late_days import only_by_hand
from autograder.classroom.pool import Publish
from autograder.classroom.rows import Row
from autograder.report import gradescope, html, junit, programs
from autograder.report.leaderboard import speed_graded
from autograder.report.student.not_handed_in import not_handed_in
from autograder.report.student.requests import requests_of_student
from autograder.safe_text import file_name, printable, readable_name
from autograder.verdict import Grade
from autograder.writing import write_if_new

FOLDERS = {PAGES: ".html", "records": ".json", "junit": ".xml"}  # of the files of one student


def publisher(
    settings: ClassSettings,
    out: Path | None,
    with_junit: bool,
    gradescope_results: Path | None = None,
    gradescope_leaderboard: bool = False,
) -> Publish:
    """Return a function that writes all of a student's files."""
    policy = settings.policy
    speeds = speed_graded(settings.rubrics, settings.profile) if gradescope_leaderboard else None

    def publish(student: str, grades: Sequence[Grade], page: str) -> None:
        if gradescope_results:
            write_if_new(gradescope_results, gradescope.document(grades, speeds))
        if out is None:
            return
        name = readable_name(settings.names.get(student) or student)
        requests = requests_of_student(student, grades, policy)
        absent = not_handed_in(student, grades, policy)
        write_if_new(
            out / PAGES / page,
            html.student_page(
                name, grades, settings.curves, requests, absent, heading=settings.heading
            ),
        )
        programs.write(out, page, name, grades, settings.heading)
        data = {"format": 1, "student": printable(student), "grades": grades}
        record = to_json(data, indent=1, inf_nan_mode="strings").decode() + "\n"
        write_if_new(out / "records" / Path(page).with_suffix(".json").name, record)
        if with_junit:
            path = out / "junit" / Path(page).with_suffix(".xml").name
            write_if_new(path, junit.document(student, grades))

    return publish


def with_pages_of_absent(
    rows: Sequence[Row], people: Collection[str], settings: ClassSettings, publish: Publish
) -> list[Row]:
    """Write a page for each student of the roster who has none, and return the rows with pages."""
    there = {row.student for row in rows if row.page}
    missing = {row.student for row in rows} - there
    pages = {}
    for student in people:
        if (name := printable(student)) in missing:
            pages[name] = f"{file_name(student)}.html"
            publish(student, only_by_hand(student, (), settings), pages[name])
    return [replace(row, page=pages.get(row.student, row.page)) for row in rows]
