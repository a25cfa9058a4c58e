"""Write a Canvas gradebook: a filled-in export, or one made from the roster.

Canvas finds students by ID, SIS ids or exact name, and assignments by the number in brackets after
their title. Scores are compared to two decimals, and `EX` means excused.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from autograder.classroom.rows import Row
from autograder.codes import GradeStatus
from autograder.errors import SettingsError
from autograder.report import filling
from autograder.report.tables import to_csv
from autograder.settings.roster import MAXIMA, Person
from autograder.submissions.lesson_names import lesson_among

STUDENT = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
Grades = Mapping[tuple[str, str], Row]  # by student and lesson


def made(rows: Sequence[Row], people: Mapping[str, Person]) -> str:
    """Return a gradebook with the roster's ids, to import as new assignments."""
    lessons = with_results(rows)
    by_student = {(row.student, row.lesson): row for row in rows}
    names = [f"{row.lesson} {row.title}" for _, row in sorted(lessons.items())]
    lines: list[list[object]] = [[*STUDENT, *names]]
    most = [row.max_score for _, row in sorted(lessons.items())]
    lines.append([f"    {MAXIMA}", None, None, None, None, *most])
    for student in sorted({row.student for row in rows}):
        p = people.get(student, Person(student))
        ids = [p.full_name or student, p.canvas_id, p.sis_id, p.sis_login or student, p.section]
        cells = []
        for lesson in sorted(lessons):
            row = by_student.get((student, lesson))
            cells.append(cell(row, row.max_score) if row else None)
        lines.append([*ids, *cells])
    return to_csv(lines)


def with_results(rows: Sequence[Row]) -> dict[str, Row]:
    """Return a row for each lesson in which somebody has points or is excused."""
    return {row.lesson: row for row in rows if row.title and cell(row, None) is not None}


def cell(row: Row, maximum: float | None) -> object:
    if row.status == GradeStatus.EXCUSED:
        return "EX"
    return None if row.score is None else filling.scaled(row, maximum)


def filled(rows: Sequence[Row], people: Mapping[str, Person], export: Path) -> tuple[str, str]:
    """Return the export with our points filled in, and a sentence that sums up the result.

    Points go to assignments whose titles begin with a lesson. Other assignments are left out, and
    Canvas does not change them.
    """
    lessons = with_results(rows)
    by_student = {(row.student, row.lesson): row for row in rows if row.title}
    table = filling.read_table(export)
    header = table[0] if table else []
    if not header or "Student" not in header[0] or "Section" not in header:
        raise SettingsError(
            f"{export}:1: this is not a Canvas gradebook export (Student,ID,…,Section)"
        )
    table = [line + [""] * (len(header) - len(line)) for line in table]
    above = next((number for number, line in enumerate(table) if MAXIMA in line[0]), 0)
    places = columns(export, header, lessons)
    new = {lesson: row for lesson, row in sorted(lessons.items()) if lesson not in places}
    names = [f"{lesson} {row.title}" for lesson, row in new.items()]
    for number, line in enumerate(table):
        most = [f"{row.max_score:g}" for row in new.values()]
        line += names if number == 0 else most if number == above else [""] * len(new)
    places |= {lesson: len(header) + number for number, lesson in enumerate(new)}
    maxima = {lesson: filling.maximum_in(table[above][place]) for lesson, place in places.items()}

    filled_in, without = [], []
    find = finder(header, by_student, people)
    for line in table[above + 1 :]:
        student = find(line) or ""
        mine = [row for lesson in places if (row := by_student.get((student, lesson)))]
        cells = {places[row.lesson]: cell(row, maxima[row.lesson]) for row in mine}
        cells = {place: value for place, value in cells.items() if value is not None}
        for place, value in cells.items():
            line[place] = str(value)
        if cells:
            filled_in.append(student)
        else:
            without.append(" ".join(reversed(line[0].split(", ", 1))))
    columns_kept = [*range(header.index("Section") + 1), *places.values()]
    text = filling.write_table([line[place] for place in columns_kept] for line in table)
    scales = {s: filling.scale(lessons[s].max_score, maxima[s]) for s in places}
    return text, filling.summary(
        "canvas.csv",
        filled_in,
        without,
        {student for (student, _), row in by_student.items() if cell(row, None) is not None},
        "canvas_id, sis_id, sis_login or name",
        *(f"{lesson}: {text}" for lesson, text in scales.items() if text),
        f"column added, because no title begins with the lesson: {', '.join(names)}" if new else "",
    )


def columns(export: Path, header: Sequence[str], lessons: Mapping[str, Row]) -> dict[str, int]:
    """Return, for each lesson, the column of the assignment whose title begins with the lesson."""
    places: dict[str, int] = {}
    for place in range(header.index("Section") + 1, len(header)):
        lesson = lesson_among(re.sub(r"\s*\(\d+\)\s*$", "", header[place]), lessons)
        if lesson is None:
            continue
        if lesson in places:
            two = f"{header[places[lesson]]!r} and {header[place]!r}"
            raise SettingsError(f"{export}:1: two columns begin with lesson {lesson}, {two}: "
                                "remove one of them")  # fmt: skip
        places[lesson] = place
    return places


def finder(
    header: Sequence[str], by_student: Grades, people: Mapping[str, Person]
) -> Callable[[Sequence[str]], str | None]:
    """Return a function that finds the student of a line, trying the ids in Canvas's order."""
    ours = [(student, student) for student, _ in by_student]
    everybody = people.values()
    students_by_id = {
        "ID": filling.one_each((p.canvas_id, p.student) for p in everybody),
        "SIS User ID": filling.one_each((p.sis_id, p.student) for p in everybody),
        "SIS Login ID": filling.one_each([*ours, *((p.sis_login, p.student) for p in everybody)]),
        "Student": filling.one_each([*ours, *((p.full_name, p.student) for p in everybody)]),
    }
    places = {name: header.index(name) for name in students_by_id if name in header}

    def find(line: Sequence[str]) -> str | None:
        found = (students_by_id[name].get(line[place].strip()) for name, place in places.items())
        return next(filter(None, found), None)

    return find
