"""Make notes on doubts that remain about a submission after its files are collected and read.

In manifest.csv, a doubt has the form `code: file: detail`. TABLE has the rest of its note.
"""

from collections.abc import Iterable
from pathlib import PurePath
from typing import NamedTuple

from autograder.codes import FindingCode
from autograder.notes import Note, make_note
from autograder.records import Where
from autograder.safe_text import printable, shortened
from autograder.submissions.kinds import is_package

MOST = 20  # doubts of one submission
SEPARATOR = " | "  # between the doubts in a cell


class Entry(NamedTuple):
    """The text of a doubt's note, except its heading.

    `{name}` is the file's name, and `{parent}` is the archive that contains it.
    """

    expected: str
    advice: str = ""


OPENS = "a zip or tar that can be read to its end"
UPLOAD = "`{name}`: upload it again"
C = FindingCode
# fmt: off
TABLE: dict[FindingCode, Entry] = {
    # Who submitted it, and when.
    C.OWNER_UNKNOWN: Entry(
        "an id, address or name on the roster",
        "find out who submitted it, and write the student into manifest.csv"),
    C.MARKED_LATE: Entry(
        "a time of submission",
        "if late days cost points, write the time of submission into manifest.csv"),
    C.TIME_UNREAD: Entry(
        "a time like 2026-03-01T23:59+01:00", "write the time into manifest.csv"),
    C.LATEST_COUNTS: Entry("one submission per lesson"),
    # Which lesson it belongs to.
    C.SEVERAL_FOLDERS: Entry(
        "one folder per lesson",
        "keep only what should count"),
    C.LESSON_OVERRIDDEN: Entry(
        "files of the lesson in `--lesson`",
        "to count the files for their own lesson, write that lesson into manifest.csv; "
        "otherwise leave the row, and the student's page says that they belong to another lesson"),
    # Files that were not read.
    C.LEFT_OUT: Entry(
        "outputs and answers.txt", "submit regular files, in the lesson's folder"),
    C.FILE_UNREADABLE: Entry(
        "files that the grader can open and read to their end",
        "check the file's permissions and the disk, then grade again"),
    C.NOTHING_FOUND: Entry(
        "outputs of jobs and answers.txt", "submit the lesson's folder with its outputs"),
    C.ANSWERS_NOT_TEXT: Entry(
        "answers.txt, plain text",
        "save it as plain text under the name answers.txt, and submit that"),
    C.ANSWERS_MISNAMED: Entry("answers.txt", "rename it to answers.txt"),
    C.ANSWERS_BESIDE: Entry(
        "one answers.txt per lesson", "put all answers into answers.txt"),
    # The contents of files.
    C.ANSWERS_TOO_LARGE: Entry(
        "a few lines `id = value`", "keep only the lines `id = value`"),
    C.ANSWER_LINE_UNREAD: Entry(
        "id = value", "write one answer per line, like `keras_epoch_s = 0.91`"),
    C.ANSWERED_TWICE: Entry("one value", "delete the line that is not your answer"),
    C.ANSWERS_DIFFER: Entry(
        "one answers.txt for a lesson", "keep only the answers.txt that should count"),
    C.SEVERAL_REPORTS: Entry("one report.md"),
    # Archives.
    C.ARCHIVE_KIND: Entry(
        "outputs of jobs and answers.txt", "pack the lesson's folder again, as .zip or .tar.gz"),
    C.ARCHIVE_CLOSED: Entry(
        "the files themselves",
        "`autograder collect --from folders` opens archives"),
    C.ARCHIVE_WITHIN: Entry(
        "files packed once",
        "`{name}` is packed in {parent}: unpack it, and pack only once"),
    C.ARCHIVE_LEFT_OUT: Entry(
        "regular files with relative names",
        "pack the lesson's folder again, with only its outputs and answers.txt"),
    C.FILE_DAMAGED: Entry(
        "files that can be unpacked",
        "`{name}` is damaged in {parent}: pack again, and submit that"),
    C.ARCHIVE_UNOPENED: Entry(OPENS, UPLOAD),
    C.ARCHIVE_DAMAGED: Entry(OPENS, UPLOAD),
}
# fmt: on


# The parts of a submission that could not be opened, and may hold what is missing.
UNOPENED = (C.ARCHIVE_WITHIN, C.FILE_DAMAGED, C.ARCHIVE_UNOPENED, C.ARCHIVE_DAMAGED)


def note_of(
    code: FindingCode,
    file: str = "",
    detail: str = "",
    where: Iterable[Where] = (),
    **fields: str,
) -> Note:
    """Return the note on a doubt about a file, or about lines. `fields` fill in its heading.

    `file` is its name as the student knows it.
    """
    entry, path = TABLE[code], PurePath(file)
    parent = next(filter(is_package, reversed(path.parts[:-1])), path.parent.name)
    names = {"name": shortened(path.name, 80), "parent": shortened(parent, 80)} | fields
    actual = detail if file in detail else f"{file}: {detail}".rstrip(": ")
    places = [Where(file, 0)] if file else where
    return make_note(code, entry.expected, actual, places, entry.advice.format(**names), **names)


def file_of(doubt: Note) -> str:
    """Return the name of the file that the doubt is about, if any."""
    return doubt.where[0].file if doubt.where else ""


def parse(text: str) -> list[Note]:
    """Parse the doubts in a cell of manifest.csv. Raise ValueError with an unknown code."""
    found = []
    for part in filter(None, (one.strip() for one in text.split("|"))):
        code, file, detail = [*part.split(": ", 2), "", ""][:3]
        if code not in TABLE:
            raise ValueError(code)
        found.append(note_of(FindingCode(code), "" if file == "-" else file, detail))
    return found


def written(doubts: list[Note]) -> str:
    """Return the doubts as a cell of manifest.csv, which `parse` reads."""
    return SEPARATOR.join(dict.fromkeys(map(as_text, doubts[:MOST])))


def as_text(doubt: Note) -> str:
    file = file_of(doubt)
    detail = "" if doubt.actual == file else doubt.actual.removeprefix(f"{file}: ")
    parts = (doubt.code, file or ("-" if detail else ""), detail)
    return ": ".join(printable(part).replace("|", "/") for part in parts).rstrip(": ")
