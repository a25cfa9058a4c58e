"""Make everything that `autograder grade --out` writes: for each student, and for the class."""

from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path

from pydantic_core import to_json

from autograder.classroom.class_settings import ClassSettings
from autograder.codes import GradeStatus
from autograder.grouping import grouped
from autograder.report.class_page import LESSONS, class_pages
from autograder.report.exports import EXPORTS, People
from autograder.report.rendering import PAGES, full_name, render
from autograder.report.student.page import not_handed_in, points_lost, student_page
from autograder.safe_text import file_name
from autograder.verdict import Grade

RECORDS = "records"  # the folder of the grades, by student
PROGRAMS = "programs"  # a folder of its own, so that these pages are not given to students
FOLDERS = (PAGES, RECORDS, PROGRAMS, LESSONS)  # below the folder of --out
KINDS = {"-": "released, gone", "+": "new, outside the gaps", "gap": "in a gap", "own": "own"}
Files = dict[str, str | None]  # by name below --out; None: must not be there


def of_students(
    grades: Sequence[Grade], rows: Sequence[Grade], people: People, settings: ClassSettings
) -> Files:
    """Return a page, a record and the programs of everybody who submitted or is on the roster.

    `rows` are the grades with what only the whole class shows.
    """
    by_student = grouped((grade.student, grade) for grade in grades)
    missing = [row for row in rows if row.status == GradeStatus.MISSING and row.title]
    policy, heading = settings.policy, settings.heading
    lost = grouped((row.student, (row.lesson, points_lost(row, policy))) for row in missing)
    files: Files = {}
    for student in sorted(by_student.keys() | {*people}):
        file, name = f"{file_name(student)}.html", full_name(student, people)
        mine, own = by_student.get(student, []), dict(lost.get(student, ()))
        uncounted = [lesson for lesson, points in own.items() if not points]
        unsubmitted = not_handed_in(student, mine, policy, own)
        files[f"{PAGES}/{file}"] = student_page(name, mine, unsubmitted, uncounted, heading)
        files[f"{PROGRAMS}/{file}"] = programs_page(name, mine, heading)
        data = {"format": 1, "student": student, "grades": mine}
        files[record_file(file)] = to_json(data, indent=1, inf_nan_mode="strings").decode() + "\n"
    return files


def programs_page(name: str, grades: Sequence[Grade], heading: str) -> str | None:
    """Return a page on a student's programs, or None if nothing in them is changed."""
    changed = [grade for grade in grades if grade.programs]
    facts = {"student": name, "heading": heading, "kinds": KINDS, "zip_longest": zip_longest}
    return render("programs.html.j2", grades=changed, **facts) if changed else None


def record_file(page: str) -> str:
    """Return the record of the student whose page has this name."""
    return f"{RECORDS}/{Path(page).with_suffix('.json').name}"


def of_class(
    rows: Sequence[Grade],
    people: People,
    settings: ClassSettings,
    gradebook: Path | None,
    worksheets: Sequence[Path],
) -> tuple[Files, list[str]]:
    """Return the files of a class, and a sentence on each file that was filled in.

    `gradebook` and `worksheets` are the exports of Canvas and Moodle to fill in.
    """
    files: Files = {name: export(rows, people, settings) for name, export in EXPORTS.items()}
    files |= class_pages(rows, people, settings)
    sentences = []
    if gradebook:
        from autograder.report import canvas

        files["canvas.csv"], sentence = canvas.filled(rows, people, gradebook)
        sentences.append(sentence)
    for worksheet in worksheets:
        from autograder.report import moodle

        files[f"moodle-{worksheet.stem}.csv"], sentence = moodle.filled(rows, people, worksheet)
        sentences.append(sentence)
    return files, sentences
