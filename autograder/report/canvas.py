"""Fill in the export of Canvas's gradebook.

Canvas finds students by ID, SIS ids or exact name, and assignments by the number in brackets after
their title. Scores are compared to two decimals.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from autograder.errors import SettingsError
from autograder.report import filling
from autograder.report.exports import canvas_cell, with_results
from autograder.settings.roster import MAXIMA, Person
from autograder.submissions.kinds import lesson_among
from autograder.verdict import Grade

# Canvas's columns, in the order in which Canvas itself looks for a student, and the roster's
IDS = (("ID", "canvas_id"), ("SIS User ID", "sis_id"), ("SIS Login ID", "sis_login"))


def filled(rows: Sequence[Grade], people: Mapping[str, Person], export: Path) -> tuple[str, str]:
    """Return the export with our points filled in, and a sentence that sums up the result.

    Points go to assignments whose titles begin with a lesson. Other assignments are left out, and
    Canvas does not change them.
    """
    header, *lines = filling.read_table(export) or [[""]]
    if "Student" not in header[0] or "Section" not in header:
        raise SettingsError(f"{export}:1: not a Canvas gradebook export (Student,ID,…,Section)")
    lessons = with_results(rows)
    places = columns(export, header, lessons)
    added = [row for lesson, row in lessons.items() if lesson not in places]
    places |= {row.lesson: len(header) + number for number, row in enumerate(added)}
    names = [f"{row.lesson} {row.title}" for row in added]
    table = [line + [""] * (len(header) + len(added) - len(line)) for line in lines]
    top = next((number for number, line in enumerate(table) if MAXIMA in line[0]), -1)
    maxima = table[top] if top >= 0 else [""] * len(header)
    maxima[len(header) :] = [f"{row.worth:g}" for row in added]
    scales = {s: filling.scale(lessons[s].worth, maxima[place]) for s, place in places.items()}

    result = filling.Filled("canvas.csv")
    result.notes = [f"{lesson}: {text}" for lesson, (_, text) in scales.items() if text]
    if added:
        result.notes.append(f"column added, because no title begins with it: {', '.join(names)}")
    by_key = {row.key: row for row in rows if row.title}
    known = {student: Person(student) for student, _ in by_key} | dict(people)
    find = filling.finder(
        {name: replace(p, sis_login=p.sis_login or name) for name, p in known.items()}
    )
    ids = [(kind, header.index(column)) for column, kind in IDS if column in header]
    for line in table[top + 1 :]:
        student = find([*((kind, line[at]) for kind, at in ids), ("name", line[0])])
        has_points = False
        for lesson, place in places.items():
            row = by_key.get((student, lesson))
            cell = canvas_cell(row, scales[lesson][0]) if row else None
            line[place] = line[place] if cell is None else str(cell)
            has_points |= cell is not None
        if has_points:
            result.students.append(student)
        else:
            result.without.append(" ".join(reversed(line[0].strip().split(", ", 1))))
    kept = [*range(header.index("Section") + 1), *places.values()]
    result.lines = [[line[place] for place in kept] for line in [header + names, *table]]
    graded = {student for (student, _), row in by_key.items() if canvas_cell(row, 1.0) is not None}
    return result.text, result.sentence(graded, "canvas_id, sis_id, sis_login or name")


def columns(export: Path, header: Sequence[str], lessons: Mapping[str, Grade]) -> dict[str, int]:
    """Return, for each lesson, the column of the assignment whose title begins with the lesson."""
    places: dict[str, int] = {}
    for place in range(header.index("Section") + 1, len(header)):
        lesson = lesson_among(re.sub(r"\s*\(\d+\)\s*$", "", header[place]), lessons)
        if lesson in places:
            two = f"lesson {lesson}, {header[places[lesson]]!r} and {header[place]!r}"
            raise SettingsError(f"{export}:1: two columns begin with {two}: remove one of them")
        if lesson is not None:
            places[lesson] = place
    return places
