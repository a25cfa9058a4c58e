"""Make notes on doubts that remain about a submission after its files are collected and read.

In manifest.csv, a doubt has the form `code: file: detail`. TABLE has the rest of its note.
"""

from collections.abc import Iterable
from pathlib import PurePath
from unicodedata import normalize

from autograder.codes import FindingCode
from autograder.notes import Note, make_note
from autograder.records import Where
from autograder.safe_text import printable, shortened

MOST = 20  # doubts of one submission

WORK_FILES = "outputs of jobs and answers.txt"
SUBMIT_FILE = "submit the file that the job wrote; `--output` in the job file gives its name"
C = FindingCode
# What is expected and what to do. `{name}` is the file's name.
TABLE: dict[FindingCode, tuple[str, str]] = {
    # Who submitted it, when, and for which lesson.
    C.OWNER_UNKNOWN: ("an id, address or name on the roster", "name the student in manifest.csv"),
    C.MARKED_LATE: ("a time of submission", "if late days cost points, write it into manifest.csv"),
    C.TIME_UNREAD: ("a time like 2026-03-01T23:59+01:00", "write it into manifest.csv"),
    C.FOLDERS_JOINED: ("one folder, or copies of it", "if one is another student's, move it"),
    C.LATEST_COUNTS: ("one submission per lesson", ""),
    C.OUTPUTS_LEFT_OUT: ("outputs in the last submission", "submit the whole folder once more"),
    # Files that were not read.
    C.LEFT_OUT: ("outputs and answers.txt", "submit regular files, in the lesson's folder"),
    C.FILE_UNREADABLE: (
        "files that can be read",
        "check the file's permissions and the disk, then grade again",
    ),
    C.NOTHING_FOUND: (WORK_FILES, "submit the lesson's folder with its outputs"),
    C.FILE_EMPTY: ("a file with contents", "`{name}` is empty: copy it again, and submit it"),
    C.FILE_TOO_LARGE: (
        "an output of at most a few megabytes",
        "run the program again without its debug output",
    ),
    C.TERMINAL_COPY: ("the job's own output file, such as 02_serial_1234.out", SUBMIT_FILE),
    C.ANSWERS_NOT_TEXT: ("answers.txt, plain text", "save it as UTF-8 text, named answers.txt"),
    # The contents of files.
    C.ANSWER_LINE_UNREAD: ("id = value", "write one line per answer, like `keras_epoch_s = 0.91`"),
    C.ANSWERED_TWICE: ("one value", "keep only the answer that should count"),
    C.SEVERAL_REPORTS: ("one report.md", ""),
    # Archives.
    C.ARCHIVE_CLOSED: (WORK_FILES, "`autograder collect --from folders` opens archives"),
    C.ARCHIVE_UNOPENED: (
        "a .zip or .tar.gz that is packed once and can be read to its end",
        "`{name}` could not be read: pack the folder once, as .zip or .tar.gz, and upload it again",
    ),
}
# The parts of a submission that could not be opened, and may hold what is missing.
UNOPENED = (C.ARCHIVE_UNOPENED, C.FILE_EMPTY, C.ANSWERS_NOT_TEXT, C.TERMINAL_COPY)


def note_of(
    code: FindingCode, file: str = "", detail: str = "", where: Iterable[Where] = (), **fields: str
) -> Note:
    """Return the note on a doubt about a file, or about lines. `fields` fill in its heading.

    `file` is its name as the student knows it.
    """
    (expected, advice), names = TABLE[code], {"name": shortened(PurePath(file).name, 80)} | fields
    actual = detail if file in detail else f"{file}: {detail}".rstrip(": ")
    places = [*where] or ([Where(file, 0)] if file else [])
    return make_note(code, expected, actual, places, advice.format(**names), **names)


def file_of(doubt: Note) -> str:
    """Return the name of the file that the doubt is about, if any."""
    return doubt.where[0].file if doubt.where else ""


def parse(text: str) -> list[Note]:
    """Parse the doubts in a cell of manifest.csv. Raise ValueError with an unknown code."""
    doubts = []
    for part in filter(None, map(str.strip, text.split("|"))):
        code, file, detail = [*part.split(": ", 2), "", ""][:3]
        try:
            doubts.append(note_of(FindingCode(code), "" if file == "-" else file, detail))
        except KeyError:  # a finding that is not from collecting
            raise ValueError(code) from None
    return doubts


def written(doubts: list[Note]) -> str:
    """Return the doubts as a cell of manifest.csv, which `parse` reads."""
    return " | ".join(dict.fromkeys(map(as_text, doubts[:MOST])))


def as_text(doubt: Note) -> str:
    file = file_of(doubt)
    detail = "" if doubt.actual == file else doubt.actual.removeprefix(f"{file}: ")
    parts = (doubt.code, file or ("-" if detail else ""), detail)
    text = ": ".join(printable(part).replace("|", "/") for part in parts).rstrip(": ")
    return normalize("NFC", text)  # as the manifest is read; macOS writes é as two characters
