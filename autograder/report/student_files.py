"""Write the files of each student: a page, a record, and the page about the programs."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from pydantic_core import to_json

from autograder.classroom.class_settings import ClassSettings
from autograder.classroom.late_days import only_by_hand
from autograder.classroom.one_unit import Grades
from autograder.codes import GradeStatus
from autograder.grouping import grouped
from autograder.report import programs
from autograder.report.back.records import RECORDS, record_file
from autograder.report.signs import PAGES
from autograder.report.student.missing import not_handed_in, points_lost
from autograder.report.student.page import student_page
from autograder.safe_text import page_name, printable, readable_name
from autograder.verdict import Grade
from autograder.writing import write_if_new

FOLDERS = (PAGES, RECORDS, programs.PROGRAMS)  # below the folder of --out
# Known only once the whole class is graded; grades.json has them.
OF_CLASS = {"grades": {"__all__": {"page", "partners"}}}


def write_students(
    by_student: Grades,
    rows: Sequence[Grade],
    people: Collection[str],
    settings: ClassSettings,
    out: Path,
) -> None:
    """Write the files of all students who submitted something or are on the roster."""
    submitted = {printable(student) for student in by_student}
    absent = [name for name in people if printable(name) not in submitted]
    lost = grouped(
        (row.student, (row.lesson, points_lost(row, settings.policy)))
        for row in rows
        if row.status == GradeStatus.MISSING and row.title
    )
    everybody = by_student | {name: only_by_hand(name, (), settings) for name in absent}
    for student, grades in everybody.items():
        page = page_name(student)
        name = readable_name(settings.names.get(student) or student)
        own = dict(lost.get(printable(student), ()))
        write_if_new(out / PAGES / page, page_of(student, name, grades, settings, own))
        programs.write(out, page, name, grades, settings.heading)
        data = {"format": 1, "student": printable(student), "grades": grades}
        record = to_json(data, indent=1, inf_nan_mode="strings", exclude=OF_CLASS).decode() + "\n"
        write_if_new(record_file(out, page), record)


def page_of(
    student: str,
    name: str,
    grades: Sequence[Grade],
    settings: ClassSettings,
    lost: Mapping[str, float],
) -> str:
    """Return a student's page. `lost` has the points of the lessons that count as missing."""
    absent = not_handed_in(student, grades, settings.policy, lost)
    uncounted = [lesson for lesson, most in lost.items() if not most]
    return student_page(name, grades, settings.curves, absent, uncounted, heading=settings.heading)
