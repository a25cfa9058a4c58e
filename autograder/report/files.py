"""Write everything that `autograder grade --out` writes: for each student, and for the class."""

from collections.abc import Collection, Sequence
from pathlib import Path

from pydantic_core import to_json

from autograder.classroom.class_settings import ClassSettings
from autograder.classroom.late_days import only_by_hand
from autograder.classroom.one_unit import Grades
from autograder.codes import GradeStatus
from autograder.grouping import grouped
from autograder.report import canvas, moodle, programs
from autograder.report.back.records import RECORDS, record_file
from autograder.report.class_page.lesson import LESSONS
from autograder.report.class_page.page import About, class_pages
from autograder.report.exports import EXPORTS, People
from autograder.report.signs import PAGES
from autograder.report.student.missing import not_handed_in, points_lost
from autograder.report.student.page import student_page
from autograder.safe_text import page_name, printable, readable_name
from autograder.verdict import Grade
from autograder.writing import write_if_new

FOLDERS = (PAGES, RECORDS, programs.PROGRAMS, LESSONS)  # below the folder of --out
# Known only once the whole class is graded; grades.json has them.
OF_CLASS = {"grades": {"__all__": {"page", "partners"}}}


def write_students(
    by_student: Grades,
    rows: Sequence[Grade],
    people: Collection[str],
    settings: ClassSettings,
    out: Path,
) -> None:
    """Write a page, a record and the programs of everybody who submitted or is on the roster."""
    submitted = {printable(student) for student in by_student}
    absent = [name for name in people if printable(name) not in submitted]
    missing = [row for row in rows if row.status == GradeStatus.MISSING and row.title]
    policy, heading = settings.policy, settings.heading
    lost = grouped((row.student, (row.lesson, points_lost(row, policy))) for row in missing)
    everybody = by_student | {name: only_by_hand(name, (), settings) for name in absent}
    for student, grades in everybody.items():
        file, name = page_name(student), readable_name(settings.names.get(student) or student)
        own = dict(lost.get(printable(student), ()))  # by lesson; 0 if it does not count
        uncounted = [lesson for lesson, points in own.items() if not points]
        unsubmitted = not_handed_in(student, grades, policy, own)
        page = student_page(name, grades, settings.curves, unsubmitted, uncounted, heading)
        write_if_new(out / PAGES / file, page)
        programs.write(out, file, name, grades, heading)
        data = {"format": 1, "student": printable(student), "grades": grades}
        record = to_json(data, indent=1, inf_nan_mode="strings", exclude=OF_CLASS).decode() + "\n"
        write_if_new(record_file(out, file), record)


def write_class(
    rows: Sequence[Grade],
    out: Path,
    people: People,
    settings: ClassSettings,
    gradebook: Path | None,
    worksheets: Sequence[Path],
) -> list[str]:
    """Write the files of a class. Return a sentence on each file that was filled in.

    `gradebook` and `worksheets` are the exports of Canvas and Moodle to fill in.
    """
    about = About(people, settings.policy, settings.titles, heading=settings.heading)
    files = {name: export(rows, people, settings) for name, export in EXPORTS.items()}
    files |= class_pages(rows, about)
    sentences = []
    if gradebook:
        files["canvas.csv"], sentence = canvas.filled(rows, people, gradebook)
        sentences.append(sentence)
    for worksheet in worksheets:
        files[moodle.filled_name(worksheet)], sentence = moodle.filled(rows, people, worksheet)
        sentences.append(sentence)
    for name, contents in files.items():
        write_if_new(out / name, contents)
    return sentences
