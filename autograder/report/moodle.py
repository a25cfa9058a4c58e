"""Fill in Moodle's offline grading worksheet.

Moodle translates the worksheet's headers, so this module never creates a worksheet itself. Download
one worksheet per lesson from its assignment.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from autograder.collect.platforms import PARTICIPANT
from autograder.errors import SettingsError
from autograder.report import filling
from autograder.report.rendering import points, standing_of
from autograder.safe_text import csv_cell, shortened
from autograder.settings.roster import Person
from autograder.verdict import WAITS, Grade

# Headers in English and German
GRADE, FEEDBACK = ("grade", "bewertung"), "feedback"
MAXIMUM = ("max", "bestwertung", "höchst")


def read_worksheet(
    worksheet: Path, graded: Iterable[str], people: Mapping[str, Person]
) -> tuple[list[str], int, list[tuple[str, list[str]]]]:
    """Return the header, the position of the grades, and the lines, each with its student or ""."""
    header, *lines = filling.read_table(worksheet) or [[]]
    places = [i for i, name in enumerate(header) if name.strip().casefold() in GRADE]
    if len(places) != 1:
        raise SettingsError(
            f"{worksheet}:1: which column is the grade? Found: {header}. Give Moodle's "
            "grading worksheet of this assignment, in English or German"
        )
    known = {name: people.get(name, Person(name)) for name in graded}
    find = filling.finder(
        {name: replace(p, moodle_id=participant(p.moodle_id)) for name, p in known.items()}
    )
    students = (
        find([("moodle_id", participant(line[0])), *(("name", cell) for cell in line[:4])])
        for line in lines
    )
    return header, places[0], [*zip(students, lines, strict=True)]


def filled(rows: Sequence[Grade], people: Mapping[str, Person], worksheet: Path) -> tuple[str, str]:
    """Return the worksheet with the points of its lesson, and a sentence about it."""
    lesson = filling.lesson_of_file(worksheet, rows)
    graded = {row.student: row for row in rows if row.lesson == lesson and row.title}
    header, grade_at, lines = read_worksheet(worksheet, graded, people)
    names = [name.strip().casefold() for name in header]
    comments = [i for i, name in enumerate(names) if name.startswith(FEEDBACK)]
    maxima = [i for i, name in enumerate(names) if any(word in name for word in MAXIMUM)]
    result = filling.Filled(f"moodle-{worksheet.stem}.csv", [header, *(line for _, line in lines)])
    for student, line in lines:
        line += [""] * (len(header) - len(line))
        row = graded.get(student)
        if row and comments:
            line[comments[0]] = csv_cell(comment(row))
        if row is None or row.final_score is None:
            result.without.append(line[1] if len(line) > 1 else line[0])
            continue
        factor, note = filling.scale(row.worth, line[maxima[0]] if len(maxima) == 1 else "")
        line[grade_at] = f"{row.final_score * factor:.2f}"
        result.notes.append(note)
        result.students.append(row.student)
    if all(row.score is None for row in graded.values()):
        result.notes.append(f"nobody has a grade in lesson {lesson}")
    with_points = [student for student, row in graded.items() if row.final_score is not None]
    return result.text, result.sentence(with_points, "moodle_id, email or name")


def participant(cell: str) -> str:
    """Return the student's participant number, which differs between assignments."""
    number = PARTICIPANT.match(cell.strip())
    return number[1] if number else ""


def comment(row: Grade) -> str:
    """Return the comment for the student, without the time, which Moodle shows."""
    less = (c for c in row.checks if c.score < c.points and c.status != WAITS)
    lost = (
        f"{c.title}: {points(c.score)}/{points(c.points)} ({shortened(c.actual, 160)})"
        for c in less
    )
    total = "" if row.score is None else f"{points(row.score)}/{points(row.max_score)}"
    return "; ".join(filter(None, [total or row.status, *lost, standing_of(row), *row.adjustments]))
