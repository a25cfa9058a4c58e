"""Doubts about a submission: what collecting or reading its files left open.

A doubt is a code, a file and a detail. In manifest.csv it is `code: file: detail`; on a page it is
the finding that TABLE describes.
"""

from pathlib import PurePath
from typing import NamedTuple

from autograder.codes import FindingCode
from autograder.records import Where
from autograder.safe_text import printable, shortened
from autograder.submissions.kinds import is_package
from autograder.verdict import PACKED, Finding

MOST = 20  # doubts of one submission
SEPARATOR = " | "  # between the doubts in a cell


class Doubt(NamedTuple):
    code: FindingCode
    file: str = ""  # as the student knows it
    detail: str = ""

    def __str__(self) -> str:
        return ": ".join(printable(one).replace("|", "/") for one in self).rstrip(": ")


class Entry(NamedTuple):
    """What is said of a code. `{name}` is the file's name, `{parent}` the archive that it is in."""

    title: str
    expected: str
    advice: str = ""
    look: bool = True
    private: bool = False  # never shown to the student
    kind: str = "collect"


OPENS = "a zip or tar that can be read to its end"
UPLOAD = "`{name}`: upload it again"
IN_MANIFEST = "instructor: write it into manifest.csv"
C = FindingCode
# fmt: off
TABLE: dict[FindingCode, Entry] = {
    # Whose it is, and when it was submitted.
    C.OWNER_UNCERTAIN: Entry(
        "It is not certain whose submission this is", "one student's number and name",
        "instructor: find out who submitted it, and write the student into manifest.csv",
        private=True),
    C.MARKED_LATE: Entry(
        "The platform marked this as late, and does not say how late", "a time of submission",
        "instructor: write the time into manifest.csv, column `submitted`, if days count"),
    C.TIMES_DIFFER: Entry(
        "Several files give a time of submission, and they differ", "one timestamp.txt",
        "instructor: if another time is right, write it into manifest.csv"),
    C.TIME_UNREAD: Entry(
        "The platform's time of submission cannot be read", "a time like 2026-03-01T23:59+01:00",
        IN_MANIFEST, private=True),
    C.LATEST_COUNTS: Entry(
        "Of several submissions the last counts", "one submission of a lesson", look=False),
    C.SAME_TIME: Entry(
        "Several submissions have the same time, so one was chosen: say which is meant",
        "submissions whose times say which is the last",
        "tell your instructor which is meant, or submit that one alone"),
    # Which lesson it is.
    C.SEVERAL_FOLDERS: Entry(
        "Several folders were taken as one lesson", "one folder for a lesson",
        "keep only what should count; instructor: `collect --latest` takes the last submission",
        look=False),
    C.FOLDER_OF_OTHER_LESSON: Entry(
        "A folder is named after another lesson than its outputs are of",
        "outputs of the lesson in the folder's name",
        "name the folder after its lesson, or submit the outputs that were meant"),
    # Files that were not read.
    C.LEFT_OUT: Entry(
        "Something in the submission was left out", "outputs and answers.txt",
        "submit regular files, in the lesson's folder"),
    C.FILE_UNREADABLE: Entry(
        "A file cannot be read, so nothing in it counts",
        "files that the grader may open and read to their end",
        "instructor: look at its permissions and its disk, then grade again"),
    C.NOTHING_FOUND: Entry(
        "Nothing found that can be graded", "outputs of jobs and answers.txt",
        "submit the lesson's folder with its outputs"),
    C.ANSWERS_NOT_TEXT: Entry(
        "Answers lie in a file that is not read", "answers.txt, plain text",
        "save it as plain text under the name answers.txt, and submit that", kind="answers"),
    C.ANSWERS_MISNAMED: Entry(
        "Answers lie in a file of another name", "answers.txt",
        "name it answers.txt, so that it is certainly found", look=False, kind="answers"),
    C.ANSWERS_BESIDE: Entry(
        "Only answers.txt counts, and not what lies beside it", "one answers.txt for a lesson",
        "put all answers into answers.txt", look=False, kind="answers"),
    # Archives.
    C.ARCHIVE_KIND: Entry(
        "{name}: this kind of archive is not read; .zip and .tar.gz are",
        "outputs of jobs and answers.txt", "pack the lesson's folder again, as .zip or .tar.gz"),
    C.ARCHIVE_CLOSED: Entry(
        "{name}: archives are not opened here", "the files themselves",
        "instructor: `autograder collect --from folders` opens archives"),
    C.ARCHIVE_WITHIN: Entry(
        "An archive within an archive was left out", "files packed once",
        "`{name}` is packed in {parent}: unpack it, and pack only once", kind=PACKED),
    C.ARCHIVE_LEFT_OUT: Entry(
        "The archive holds something that was left out", "regular files with relative names",
        "pack the lesson's folder again with its outputs and answers.txt only"),
    C.FILE_DAMAGED: Entry(
        "The archive holds a damaged file", "files that can be unpacked",
        "`{name}` is damaged in {parent}: pack again, and submit that", kind=PACKED),
    C.ARCHIVE_UNOPENED: Entry("The archive cannot be opened", OPENS, UPLOAD, kind=PACKED),
    C.ARCHIVE_DAMAGED: Entry("The archive is damaged", OPENS, UPLOAD, kind=PACKED),
}
# fmt: on


def finding_of(doubt: Doubt) -> Finding:
    entry = TABLE[doubt.code]
    path = PurePath(doubt.file)
    parent = next(filter(is_package, reversed(path.parts[:-1])), path.parent.name)
    names = {"name": shortened(path.name, 80), "parent": shortened(parent, 80)}
    named = not doubt.file or doubt.file in doubt.detail
    said = doubt.detail if named else f"{doubt.file}: {doubt.detail}".rstrip(": ")
    return Finding(
        entry.kind,
        entry.title.format(**names),
        entry.expected,
        said,
        (Where(doubt.file, 0),) if doubt.file else (),
        entry.advice.format(**names),
        look=entry.look,
        private=entry.private,
        code=doubt.code,
    )


def parse(text: str) -> list[Doubt]:
    """Return the doubts in a cell of manifest.csv. Raises ValueError with the unknown code."""
    found = []
    for part in filter(None, (one.strip() for one in text.split("|"))):
        code, _, rest = part.partition(": ")
        file, _, detail = rest.partition(": ")
        if code not in TABLE:
            raise ValueError(code)
        found.append(Doubt(FindingCode(code), file, detail))
    return found


def written(doubts: list[Doubt]) -> str:
    return SEPARATOR.join(dict.fromkeys(str(one) for one in doubts[:MOST]))
