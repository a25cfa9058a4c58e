"""Write the files of a class."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from autograder.classroom.class_settings import ClassSettings
from autograder.report import canvas, moodle, tables
from autograder.report.class_page.page import About, class_pages
from autograder.settings.roster import Person
from autograder.verdict import Grade
from autograder.writing import write_if_new


def write_all(
    rows: Sequence[Grade],
    out: Path,
    people: Mapping[str, Person],
    settings: ClassSettings,
    gradebook: Path | None,
    worksheets: Sequence[Path],
) -> list[str]:
    """Write the files of a class. Return a sentence on each file that was filled in.

    `gradebook` and `worksheets` are the exports of Canvas and Moodle to fill in.
    """
    write_tables(rows, out, people, settings, with_gradebook=gradebook is None)
    filled = [("canvas.csv", *canvas.filled(rows, people, gradebook))] if gradebook else []
    for worksheet in worksheets:
        filled.append((moodle.filled_name(worksheet), *moodle.filled(rows, people, worksheet)))
    for name, text, _ in filled:
        write_if_new(out / name, text)
    return [sentence for *_, sentence in filled]


def write_tables(
    rows: Sequence[Grade],
    out: Path,
    people: Mapping[str, Person],
    settings: ClassSettings,
    with_gradebook: bool,
) -> None:
    about = About(people, settings.policy, settings.titles, heading=settings.heading)
    files = class_pages(rows, about) | {
        "grades.csv": tables.grades_csv(rows, people),
        "checks.csv": tables.checks_csv(rows),
        "grades.json": tables.as_json(rows, settings.profile, settings.heading),
        "nbgrader.csv": tables.nbgrader_csv(rows, people),
    }
    if with_gradebook:
        files["canvas.csv"] = canvas.made(rows, people)
    for name, contents in files.items():
        write_if_new(out / name, contents)
