"""Describe the doubts that remain about a submission after its files are collected and read.

A doubt has a code, a file and a detail. In manifest.csv, a doubt has the form `code: file: detail`.
A page shows a doubt as the finding that TABLE maps it to.
"""

from collections.abc import Iterable
from pathlib import PurePath
from typing import NamedTuple

from autograder.codes import FindingCode
from autograder.records import Where
from autograder.safe_text import printable, shortened
from autograder.submissions.kinds import is_package
from autograder.verdict import PACKED, Finding, make_finding

MOST = 20  # doubts of one submission
SEPARATOR = " | "  # between the doubts in a cell


class Doubt(NamedTuple):
    code: FindingCode
    file: str = ""  # as the student knows it
    detail: str = ""

    def __str__(self) -> str:
        file = self.file or ("-" if self.detail else "")
        parts = (self.code, file, self.detail)
        return ": ".join(printable(one).replace("|", "/") for one in parts).rstrip(": ")


class Entry(NamedTuple):
    """The text of a doubt's finding, except its heading.

    `{name}` is the file's name, and `{parent}` is the archive that contains it.
    """

    expected: str
    advice: str = ""
    kind: str = "collect"


OPENS = "a zip or tar that can be read to its end"
UPLOAD = "`{name}`: upload it again"
C = FindingCode
# fmt: off
TABLE: dict[FindingCode, Entry] = {
    # Who submitted it, and when.
    C.OWNER_UNKNOWN: Entry(
        "an id, address or name on the roster",
        "instructor: find out who submitted it, and write the student into manifest.csv"),
    C.MARKED_LATE: Entry(
        "a time of submission",
        "instructor: if late days cost points, write the time of submission into manifest.csv"),
    C.TIME_UNREAD: Entry(
        "a time like 2026-03-01T23:59+01:00", "instructor: write the time into manifest.csv"),
    C.LATEST_COUNTS: Entry("one submission per lesson"),
    # Which lesson it belongs to.
    C.SEVERAL_FOLDERS: Entry(
        "one folder per lesson",
        "keep only what should count; instructor: `collect --latest` takes the last submission"),
    C.LESSON_OVERRIDDEN: Entry(
        "files of the lesson in `--lesson`",
        "instructor: to count the files for their own lesson, write that lesson into manifest.csv; "
        "otherwise leave the row, and the student's page says that they belong to another lesson"),
    # Files that were not read.
    C.LEFT_OUT: Entry(
        "outputs and answers.txt", "submit regular files, in the lesson's folder"),
    C.FILE_UNREADABLE: Entry(
        "files that the grader can open and read to their end",
        "instructor: check the file's permissions and the disk, then grade again"),
    C.NOTHING_FOUND: Entry(
        "outputs of jobs and answers.txt", "submit the lesson's folder with its outputs"),
    C.ANSWERS_NOT_TEXT: Entry(
        "answers.txt, plain text",
        "save it as plain text under the name answers.txt, and submit that", "answers"),
    C.ANSWERS_MISNAMED: Entry("answers.txt", "rename it to answers.txt", "answers"),
    C.ANSWERS_BESIDE: Entry(
        "one answers.txt per lesson", "put all answers into answers.txt", "answers"),
    # The contents of files.
    C.ANSWERS_TOO_LARGE: Entry(
        "a few lines `id = value`", "keep only the lines `id = value`", "answers"),
    C.ANSWER_LINE_UNREAD: Entry(
        "id = value", "write one answer per line, like `keras_epoch_s = 0.91`", "answers"),
    C.ANSWERED_TWICE: Entry("one value", "delete the line that is not your answer", "answers"),
    C.ANSWERS_DIFFER: Entry(
        "one answers.txt for a lesson", "keep only the answers.txt that should count", "answers"),
    C.SEVERAL_REPORTS: Entry("one report.md"),
    # Archives.
    C.ARCHIVE_KIND: Entry(
        "outputs of jobs and answers.txt", "pack the lesson's folder again, as .zip or .tar.gz"),
    C.ARCHIVE_CLOSED: Entry(
        "the files themselves",
        "instructor: `autograder collect --from folders` opens archives"),
    C.ARCHIVE_WITHIN: Entry(
        "files packed once",
        "`{name}` is packed in {parent}: unpack it, and pack only once", PACKED),
    C.ARCHIVE_LEFT_OUT: Entry(
        "regular files with relative names",
        "pack the lesson's folder again, with only its outputs and answers.txt"),
    C.FILE_DAMAGED: Entry(
        "files that can be unpacked",
        "`{name}` is damaged in {parent}: pack again, and submit that", PACKED),
    C.ARCHIVE_UNOPENED: Entry(OPENS, UPLOAD, PACKED),
    C.ARCHIVE_DAMAGED: Entry(OPENS, UPLOAD, PACKED),
}
# fmt: on


def finding_of(doubt: Doubt, where: Iterable[Where] = (), **fields: str) -> Finding:
    """Return the finding that describes a doubt. `fields` fill in its heading.

    `where` are the lines of a doubt that names no file.
    """
    entry = TABLE[doubt.code]
    path = PurePath(doubt.file)
    parent = next(filter(is_package, reversed(path.parts[:-1])), path.parent.name)
    names = {"name": shortened(path.name, 80), "parent": shortened(parent, 80)} | fields
    named = not doubt.file or doubt.file in doubt.detail
    found = doubt.detail if named else f"{doubt.file}: {doubt.detail}".rstrip(": ")
    where = [Where(doubt.file, 0)] if doubt.file else where
    advice = entry.advice.format(**names)
    return make_finding(entry.kind, doubt.code, entry.expected, found, where, advice, **names)


def parse(text: str) -> list[Doubt]:
    """Parse the doubts in a cell of manifest.csv. Raise ValueError with an unknown code."""
    found = []
    for part in filter(None, (one.strip() for one in text.split("|"))):
        code, file, detail = [*part.split(": ", 2), "", ""][:3]
        if code not in TABLE:
            raise ValueError(code)
        found.append(Doubt(FindingCode(code), "" if file == "-" else file, detail))
    return found


def written(doubts: list[Doubt]) -> str:
    return SEPARATOR.join(dict.fromkeys(str(one) for one in doubts[:MOST]))
