"""Moodle's offline grading worksheet, filled in. Its headers are translated, so none is made up:
download it from the assignment, one worksheet for each lesson."""

import csv
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from autograder.collect import LESSON
from autograder.roster import Person
from autograder.rows import Row
from autograder.strict_yaml import SettingsError

GRADE = {
    "grade",
    "bewertung",
    "note",
    "nota",
    "calificación",
    "valutazione",
    "beoordeling",
    "cijfer",
}
FEEDBACK = ("feedback", "comment", "kommentar", "comentario", "commento", "opmerking")
ANY_ID = re.compile(r"\D*(\d+)\Z")
FOLDER = re.compile(r"(?P<name>.*)_(?P<id>\d+)_assignsubmission_.*\Z")


def document(rows: Sequence[Row], people: Mapping[str, Person], worksheet: Path, out: Path) -> str:
    from autograder.report.tables import to_csv

    lesson = LESSON.match(worksheet.stem)
    known = sorted({row.lesson for row in rows if row.title})
    which = lesson[1] if lesson else known[0] if len(known) == 1 else None
    if which is None:
        raise SettingsError(f"{worksheet}: begin its name with the lesson, like 02-worksheet.csv")
    try:
        table = list(csv.reader(worksheet.read_text(encoding="utf-8-sig").splitlines()))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise SettingsError(f"{worksheet} cannot be read: {error}") from None
    header = [name.strip().casefold() for name in table[0]] if table else []
    grades = [i for i, name in enumerate(header) if name in GRADE]
    if len(grades) != 1:
        raise SettingsError(f"{worksheet}:1: which column is the grade? Found: {header}")
    comments = [i for i, name in enumerate(header) if name.startswith(FEEDBACK)]
    by_key = {key: row for row in rows if row.lesson == which for key in _keys(row, people)}
    filled: list[list] = [table[0]]
    for line in table[1:]:
        cells: list = line + [""] * (len(header) - len(line))
        row = next((by_key[key] for key in _cell_keys(cells) if key in by_key), None)
        if row is not None and row.score is not None:
            cells[grades[0]] = f"{row.score:.2f}"
        if row is not None and comments:
            cells[comments[0]] = comment(row)
        filled.append(cells)
    return to_csv(filled)


def comment(row: Row) -> str:
    """What Moodle shows the student; no hidden check, no reason to look."""
    return "; ".join([f"{row.status}", *row.adjustments])


def _keys(row: Row, people: Mapping[str, Person]) -> list[str]:
    person = people.get(row.student, Person(row.student))
    keys = [row.student, person.full_name, person.email]
    folder = FOLDER.match(row.student)
    if folder:
        keys += [f"#{folder['id']}", folder["name"]]
    number = ANY_ID.match(person.moodle_id)
    if number:
        keys.append(f"#{number[1]}")
    return [key.casefold() for key in keys if key]


def _cell_keys(cells: Sequence[str]) -> list[str]:
    """First the participant's number, then whatever else stands in the first columns."""
    number = ANY_ID.match(cells[0].strip()) if cells else None
    first = [f"#{number[1]}"] if number else []
    return first + [str(cell).strip().casefold() for cell in cells[:4] if str(cell).strip()]
