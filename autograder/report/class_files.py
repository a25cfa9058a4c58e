"""Write the files of a class."""

from collections.abc import Sequence
from pathlib import Path

from autograder.classroom.class_settings import ClassSettings
from autograder.report import canvas, moodle
from autograder.report.class_page.page import About, class_pages
from autograder.report.exports import EXPORTS, People
from autograder.verdict import Grade
from autograder.writing import write_if_new


def write_all(
    rows: Sequence[Grade],
    out: Path,
    people: People,
    settings: ClassSettings,
    gradebook: Path | None,
    worksheets: Sequence[Path],
) -> list[str]:
    """Write the files of a class. Return a sentence on each file that was filled in.

    `gradebook` and `worksheets` are the exports of Canvas and Moodle to fill in.
    """
    about = About(people, settings.policy, settings.titles, heading=settings.heading)
    files = {name: export(rows, people, settings) for name, export in EXPORTS.items()}
    files |= class_pages(rows, about)
    sentences = []
    if gradebook:
        files["canvas.csv"], sentence = canvas.filled(rows, people, gradebook)
        sentences.append(sentence)
    for worksheet in worksheets:
        files[moodle.filled_name(worksheet)], sentence = moodle.filled(rows, people, worksheet)
        sentences.append(sentence)
    for name, contents in files.items():
        write_if_new(out / name, contents)
    return sentences
