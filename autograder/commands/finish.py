"""Finish grading: write the class's tables and page, print a summary, and set the exit code."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

from autograder.classroom.class_settings import ClassSettings
from autograder.classroom.one_unit import Grades
from autograder.classroom.whole_class import FEWEST, with_class_findings
from autograder.codes import FindingCode, GradeStatus
from autograder.commands.load import LoadedClass
from autograder.report import files, terminal
from autograder.safe_text import page_name
from autograder.submissions.class_folder import Unit
from autograder.verdict import GRADER_ERROR, Grade
from autograder.wording import counted, enumerated


def finish_class(
    units: Sequence[Unit], grades: Grades, loaded: LoadedClass, out: Path | None
) -> NoReturn:
    """Compare within the class, write everything, print a summary, and exit."""
    options, settings, people = loaded.options, loaded.settings, loaded.people
    rows = [
        replace(one, page=page_name(student), partners=unit.partners_of(student, one.lesson))
        for unit in units
        for student in unit.students
        for one in grades[student]
    ]
    rows = with_class_findings(rows, people, settings)
    said: list[str] = []
    if out is not None:
        files.write_students(grades, rows, people, settings, out)
        said = files.write_class(rows, out, people, settings, options.canvas, options.moodle)
    elif len(units) > 1:
        said = ["Nothing was saved: --out FOLDER writes pages and tables."]
    said = [*said, *before_release(rows), *submitted_by_one(rows, settings)]
    terminal.show(rows, out, settings.titles, settings.profile, said)
    sys.exit(exit_code(rows))


def before_release(rows: Sequence[Grade]) -> list[str]:
    """Return notes for the instructor to read before releasing the points."""
    lines = []
    if waiting := sum(row.score is not None and row.final_score is None for row in rows):
        lines.append(f"{counted(waiting, 'grade')} with points that wait for you: not exported.")
    if untimed := sum(row.untimed for row in rows):
        grades = counted(untimed, "grade")
        lines.append(f"{grades} without a time of submission, counted as on time.")
    late = [row for row in rows if any(one.code == FindingCode.MARKED_LATE for one in row.look)]
    if late:
        names = enumerated([f"{row.student}/{row.lesson}" for row in late])
        lines.append(
            f"Marked late by the platform, but graded as on time: {names}. "
            "To deduct points, write the time of submission into manifest.csv and grade again."
        )
    return lines


def submitted_by_one(rows: Sequence[Grade], settings: ClassSettings) -> list[str]:
    """Return a sentence about each lesson that only one student submitted, perhaps by mistake."""
    lines = []
    for lesson in sorted({row.lesson for row in rows} - settings.policy.late.due.keys()):
        states = {row.student: row.status for row in rows if row.lesson == lesson}
        there = [student for student, status in states.items() if status == GradeStatus.GRADED]
        absent = sum(status == GradeStatus.MISSING for status in states.values())
        if len(there) == 1 and absent >= FEWEST:
            lines.append(
                f"Lesson {lesson} counts as missing for {counted(absent, 'student')}, because "
                f"{there[0]} submitted it. If it should not count, empty the `students` cell of "
                "that row in manifest.csv."
            )
    return lines


def exit_code(rows: Sequence[Grade]) -> int:
    """Return the exit code that `autograder grade --help` describes."""
    if any(row.status == GRADER_ERROR for row in rows):
        return 3
    return 1 if any(row.look for row in rows) else 0
