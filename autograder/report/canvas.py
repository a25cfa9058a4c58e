"""Canvas gradebook: a filled-in export, or one made from the roster.

Canvas finds students by ID, SIS ids or exact name and assignments by the number in brackets behind
their title; scores compare at two decimals and `EX` means excused.
"""

import csv
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from autograder.collect import LESSON
from autograder.roster import Person
from autograder.rows import Row
from autograder.strict_yaml import SettingsError

STUDENT = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")


def document(rows: Sequence[Row], people: Mapping[str, Person], export: Path | None) -> str:
    from autograder.report.tables import to_csv

    lessons = {row.lesson: row for row in rows if row.title}
    by_student = {(row.student, row.lesson): row for row in rows}
    if export is None:
        names = [f"{row.lesson} {row.title}" for _, row in sorted(lessons.items())]
        lines: list[list[object]] = [[*STUDENT, *names]]
        most = [row.max_score for _, row in sorted(lessons.items())]
        lines.append(["    Points Possible", None, None, None, None, *most])
        for student in sorted({row.student for row in rows}):
            p = people.get(student, Person(student))
            ids = [p.full_name or student, p.canvas_id, p.sis_id, p.sis_login or student, p.section]
            scores = [cell(by_student.get((student, lesson))) for lesson in sorted(lessons)]
            lines.append([*ids, *scores])
        return to_csv(lines)
    return to_csv(_fill(export, lessons, by_student, people))


def cell(row: Row | None) -> object:
    if row is None:
        return None
    if row.status == "excused":
        return "EX"
    return None if row.score is None else round(row.score, 2)


def _fill(export: Path, lessons: Mapping, by_student: Mapping, people: Mapping) -> list[list]:
    """The export's own columns, with our scores in the assignments that begin with a lesson."""
    try:
        text = export.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{export} cannot be read: {error}") from None
    separator = (
        ";" if text.split("\n", 1)[0].count(";") > text.split("\n", 1)[0].count(",") else ","
    )
    table = [line for line in csv.reader(text.splitlines(), delimiter=separator) if line]
    header = table[0] if table else []
    if not header or "Student" not in header[0] or "Section" not in header:
        raise SettingsError(
            f"{export}:1: this is no Canvas gradebook export (Student,ID,…,Section)"
        )
    last = header.index("Section")
    places = {}
    for index in range(last + 1, len(header)):
        match = LESSON.match(re.sub(r"\s*\(\d+\)\s*$", "", header[index]))
        if match and match[1] in lessons:
            places[match[1]] = index
    keep = [*range(last + 1), *places.values()]
    new = [lesson for lesson in sorted(lessons) if lesson not in places]
    names = [f"{lesson} {lessons[lesson].title}" for lesson in new]
    filled: list[list] = [[*(header[i] for i in keep), *names]]
    finder = _finder(header, by_student, people)
    for line in table[1:]:
        line += [""] * (len(header) - len(line))
        values = [line[i] for i in keep]
        if "Points Possible" in line[0]:
            filled.append([*values, *(lessons[lesson].max_score for lesson in new)])
            continue
        student = finder(line)
        for position, lesson in enumerate(places, start=last + 1):
            if (student, lesson) in by_student:
                values[position] = cell(by_student[student, lesson])
        filled.append([*values, *(cell(by_student.get((student, lesson))) for lesson in new)])
    return filled


def _finder(header: Sequence[str], by_student: Mapping, people: Mapping[str, Person]):
    """A function from a line of the export to our student, by the ids in Canvas's own order."""
    columns = {
        "ID": {p.canvas_id: p.student for p in people.values() if p.canvas_id},
        "SIS User ID": {p.sis_id: p.student for p in people.values() if p.sis_id},
        "SIS Login ID": {s: s for s, _ in by_student}
        | {p.sis_login: p.student for p in people.values() if p.sis_login},
        "Student": {s: s for s, _ in by_student}
        | {p.full_name: p.student for p in people.values() if p.full_name},
    }

    def find(line: Sequence[str]) -> str | None:
        for name, known in columns.items():
            if name in header and line[header.index(name)].strip() in known:
                return known[line[header.index(name)].strip()]
        return None

    return find
