"""Write a Canvas gradebook: a filled-in export, or one made from the roster.

Canvas finds students by ID, SIS ids or exact name, and assignments by the number in brackets after
their title. Scores are compared to two decimals, and `EX` means excused.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path

from autograder.codes import GradeStatus
from autograder.errors import SettingsError
from autograder.report import filling
from autograder.report.tables import to_csv
from autograder.settings.claims import only, owners
from autograder.settings.roster import MAXIMA, Person
from autograder.submissions.lesson_names import lesson_among
from autograder.verdict import Grade

STUDENT = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")


def made(rows: Sequence[Grade], people: Mapping[str, Person]) -> str:
    """Return a gradebook with the roster's ids, to import as new assignments."""
    lessons = with_results(rows)
    by_key = {row.key: row for row in rows}
    lines: list[list[object]] = [
        [*STUDENT, *(f"{row.lesson} {row.title}" for row in lessons.values())],
        [f"    {MAXIMA}", None, None, None, None, *(row.worth for row in lessons.values())],
    ]
    for student in sorted({row.student for row in rows}):
        p = people.get(student, Person(student))
        ids = [p.full_name or student, p.canvas_id, p.sis_id, p.sis_login or student, p.section]
        mine = [by_key.get((student, lesson)) for lesson in lessons]
        lines.append([*ids, *(cell(row, row.worth) if row else None for row in mine)])
    return to_csv(lines)


def with_results(rows: Sequence[Grade]) -> dict[str, Grade]:
    """Return a row for each lesson in which somebody has points or is excused."""
    graded = {row.lesson: row for row in rows if row.title and cell(row, None) is not None}
    return dict(sorted(graded.items()))


def cell(row: Grade, maximum: float | None) -> object:
    if row.status == GradeStatus.EXCUSED:
        return "EX"
    return None if row.final_score is None else filling.scaled(row, maximum)


def filled(rows: Sequence[Grade], people: Mapping[str, Person], export: Path) -> tuple[str, str]:
    """Return the export with our points filled in, and a sentence that sums up the result.

    Points go to assignments whose titles begin with a lesson. Other assignments are left out, and
    Canvas does not change them.
    """
    lessons = with_results(rows)
    by_key = {row.key: row for row in rows if row.title}
    table = filling.read_table(export)
    header = table[0] if table else []
    if not header or "Student" not in header[0] or "Section" not in header:
        raise SettingsError(
            f"{export}:1: this is not a Canvas gradebook export (Student,ID,…,Section)"
        )
    places = columns(export, header, lessons)
    new = [row for lesson, row in lessons.items() if lesson not in places]
    names = [f"{row.lesson} {row.title}" for row in new]
    places |= {row.lesson: len(header) + number for number, row in enumerate(new)}
    table = [line + [""] * (len(header) + len(new) - len(line)) for line in table]
    above = next((number for number, line in enumerate(table) if MAXIMA in line[0]), 0)
    for added, name in zip(new, names, strict=True):
        table[above][places[added.lesson]] = f"{added.worth:g}"
        table[0][places[added.lesson]] = name
    maxima = {lesson: filling.maximum_in(table[above][place]) for lesson, place in places.items()}

    filled_in, without = [], []
    find = finder(header, {student for student, _ in by_key}, people.values())
    for line in table[above + 1 :]:
        student = find(line)
        mine = [row for lesson in places if (row := by_key.get((student, lesson)))]
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
    scales = {s: filling.scale(lessons[s].worth, maxima[s]) for s in places}
    return text, filling.summary(
        "canvas.csv",
        filled_in,
        without,
        {student for (student, _), row in by_key.items() if cell(row, None) is not None},
        "canvas_id, sis_id, sis_login or name",
        *(f"{lesson}: {text}" for lesson, text in scales.items() if text),
        f"column added, because no title begins with the lesson: {', '.join(names)}" if new else "",
    )


def columns(export: Path, header: Sequence[str], lessons: Mapping[str, Grade]) -> dict[str, int]:
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
    header: Sequence[str], graded: Iterable[str], people: Collection[Person]
) -> Callable[[Sequence[str]], str]:
    """Return a function that finds the student of a line, trying the ids in Canvas's order."""
    ours = [(student, [student]) for student in graded]
    students_by_id = {
        "ID": owners((p.student, [p.canvas_id]) for p in people),
        "SIS User ID": owners((p.student, [p.sis_id]) for p in people),
        "SIS Login ID": owners([*ours, *((p.student, [p.sis_login]) for p in people)]),
        "Student": owners([*ours, *((p.student, [p.full_name]) for p in people)]),
    }
    places = [
        (known, header.index(name)) for name, known in students_by_id.items() if name in header
    ]

    def find(line: Sequence[str]) -> str:
        found = (only(known.get(line[place].strip().casefold())) for known, place in places)
        return next(filter(None, found), "")

    return find
