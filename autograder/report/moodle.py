"""Fill in Moodle's offline grading worksheet.

Moodle translates the worksheet's headers, so this module never creates a worksheet itself. Download
one worksheet per lesson from its assignment.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from autograder.errors import SettingsError
from autograder.report import filling
from autograder.safe_text import csv_cell
from autograder.settings.claims import only, owners
from autograder.settings.roster import Person
from autograder.submissions.lesson_names import lesson_among, lesson_of
from autograder.verdict import Grade

GRADE = (
    *("grade", "bewertung", "note", "nota", "calificación", "valutazione"),
    *("beoordeling", "cijfer"),
)
FEEDBACK = ("feedback", "comment", "kommentar", "comentario", "commento", "opmerking")
MAXIMUM = ("max", "máx", "massim", "maks", "bestwertung", "höchst")
ANY_ID = re.compile(r"\D*(\d+)\Z")
FOLDER = re.compile(r"(?P<name>.*)_(?P<id>\d+)_assignsubmission_.*\Z")


def grade_column(worksheet: Path, header: Sequence[str]) -> int:
    """Return the position of the grade column, which every worksheet has."""
    places = [i for i, name in enumerate(header) if name.strip().casefold() in GRADE]
    if len(places) != 1:
        raise SettingsError(
            f"{worksheet}:1: which column is the grade? Found: {list(header)}. Give Moodle's "
            "grading worksheet of this assignment"
        )
    return places[0]


def filled(rows: Sequence[Grade], people: Mapping[str, Person], worksheet: Path) -> tuple[str, str]:
    """Return the worksheet with the points of its lesson, and a sentence about it."""
    lesson, table = lesson_meant(worksheet, rows), filling.read_table(worksheet)
    header = [name.strip().casefold() for name in table[0]] if table else []
    grade_at = grade_column(worksheet, header)
    comments = [i for i, name in enumerate(header) if name.startswith(FEEDBACK)]
    maxima = [i for i, name in enumerate(header) if any(word in name for word in MAXIMUM)]
    theirs = {row.student: row for row in rows if row.lesson == lesson and row.title}
    find = finder(theirs.values(), people)
    filled_in, without, scales = [], [], {}
    for line in table[1:]:
        line += [""] * (len(header) - len(line))
        row = theirs.get(find(line))
        if row and comments:
            line[comments[0]] = csv_cell(comment(row))
        if row is None or row.final_score is None:
            without.append(line[1] if len(line) > 1 else line[0])
            continue
        most = filling.maximum_in(line[maxima[0]]) if len(maxima) == 1 else None
        line[grade_at] = f"{filling.scaled(row, most):.2f}"
        scales[filling.scale(row.worth, most)] = True
        filled_in.append(row.student)
    graded = [row.student for row in theirs.values() if row.final_score is not None]
    scored = any(row.score is not None for row in theirs.values())
    return filling.write_table(table), filling.summary(
        filled_name(worksheet),
        filled_in,
        without,
        graded,
        "moodle_id, email or name",
        *scales,
        "" if scored else f"nobody has a grade in lesson {lesson}",
    )


def lesson_meant(path: Path, rows: Iterable[Grade]) -> str:
    """Return the lesson that a platform's file is for.

    The file's name must contain the lesson, unless there is only one lesson.
    """
    known = sorted({row.lesson for row in rows if row.title})
    lesson = lesson_among(path.stem, known) or lesson_of(path.stem)
    if lesson is None and len(known) == 1:
        lesson = known[0]
    if lesson is None:
        raise SettingsError(f"{path}: begin its name with the lesson, like 02-{path.name}")
    return lesson


def finder(rows: Iterable[Grade], people: Mapping[str, Person]) -> Callable[[Sequence[str]], str]:
    """Return a function that finds the student of a line in the worksheet."""
    students = owners((row.student, _keys(row, people)) for row in rows)

    def find(line: Sequence[str]) -> str:
        number = participant(line)
        cells = [cell.strip().casefold() for cell in (f"#{number}" if number else "", *line[:4])]
        return next(filter(None, (only(students.get(cell)) for cell in cells)), "")

    return find


def participant(line: Sequence[str]) -> str:
    """Return the student's participant number, which differs between assignments."""
    number = ANY_ID.match(line[0].strip()) if line else None
    return number[1] if number else ""


def filled_name(worksheet: Path) -> str:
    return f"moodle-{worksheet.stem}.csv"


def comment(row: Grade) -> str:
    """Return the comment for the student, without hidden checks and reasons to look.

    The comment omits the time of submission, because Moodle shows it.
    """
    return "; ".join([row.status, *row.changes])


def _keys(row: Grade, people: Mapping[str, Person]) -> list[str]:
    person = people.get(row.student, Person(row.student))
    keys = [row.student, person.full_name, person.email]
    if folder := FOLDER.match(row.student):
        keys += [f"#{folder['id']}", folder["name"]]
    if number := ANY_ID.match(person.moodle_id):
        keys.append(f"#{number[1]}")
    return keys
