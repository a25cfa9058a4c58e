"""Write the files of each student: a page, a record, and the page about the programs."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from pydantic_core import to_json

from autograder.classroom.class_settings import ClassSettings
from autograder.classroom.late_days import only_by_hand
from autograder.classroom.one_unit import Grades
from autograder.codes import GradeStatus
from autograder.report import programs
from autograder.report.back.records import RECORDS, record_file
from autograder.report.class_page import matrix
from autograder.report.signs import PAGES
from autograder.report.student.not_handed_in import not_handed_in
from autograder.report.student.page import student_page
from autograder.safe_text import page_name, printable, readable_name
from autograder.verdict import Grade
from autograder.writing import write_if_new

Missing = Mapping[str, Mapping[str, float]]  # student -> missing lesson -> its points, or 0
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
    there = {printable(student) for student in by_student}
    absent = [one for one in people if printable(one) not in there]
    everybody = by_student | {one: only_by_hand(one, (), settings) for one in absent}
    missing = missing_lessons(everybody, rows, settings)
    for student, grades in everybody.items():
        page = page_name(student)
        name = readable_name(settings.names.get(student) or student)
        write_if_new(out / PAGES / page, page_of(student, grades, settings, missing))
        programs.write(out, page, name, grades, settings.heading)
        data = {"format": 1, "student": printable(student), "grades": grades}
        record = to_json(data, indent=1, inf_nan_mode="strings", exclude=OF_CLASS).decode() + "\n"
        write_if_new(record_file(out, page), record)


def page_of(
    student: str, grades: Sequence[Grade], settings: ClassSettings, missing: Missing
) -> str:
    name = readable_name(settings.names.get(student) or student)
    mine = missing.get(printable(student), {})
    counted = {lesson: points for lesson, points in mine.items() if points}
    absent = not_handed_in(student, grades, settings.policy, counted)
    uncounted, curves = mine.keys() - counted.keys(), settings.curves
    return student_page(name, grades, curves, absent, uncounted, heading=settings.heading)


def missing_lessons(by_student: Grades, rows: Sequence[Grade], settings: ClassSettings) -> Missing:
    """Return the missing lessons whose points on a student's page depend on the rest of the class.

    A lesson that was not submitted counts if other students submitted it. One that could not be
    graded counts unless it is never due.
    """
    there = {
        (printable(student), grade.lesson)
        for student, grades in by_student.items()
        for grade in grades
    }
    absent = {(row.student, row.lesson) for row in rows if row.status == GradeStatus.MISSING}
    found = defaultdict[str, dict[str, float]](dict)
    columns, lines = matrix.table(rows, {}, settings.policy)
    for line in lines:
        for column, cell in zip(columns, line.cells, strict=True):
            key = line.student, column.lesson
            if key in absent and (key in there) != bool(cell.most):
                found[line.student][column.lesson] = cell.most
    return found
