"""Determine a file's kind from its name: an output, answers, an archive, or something else."""

import re
from enum import StrEnum

OUTPUT = re.compile(r".*(\.(out|err|er|log|txt|ou|stdout|stderr|output)|\.[oe]\d+|\.[oe])\Z", re.I)
ANSWERS = "answers.txt"
# Variants by people and systems: answers.txt.txt, Answers (1).txt, answers-2.txt, answers.md,
# answers, and text typed into a platform's page.
LIKE_ANSWERS = re.compile(
    r"(?:my[-_ ])?answers?(?:[-_ ][\w() -]{1,40}| ?\(\d{1,3}\)|\d{1,3})?"
    r"(?:\.(?:txt|text|md|csv|tsv|json|ya?ml|ini|toml|rst))*\Z",
    re.IGNORECASE,
)
NO_TEXT = re.compile(
    r"onlinetext\.html\Z|"
    r"(?:my[-_ ])?answers?(?![a-z]).*\.(?:docx?|odt|rtf|pdf|pages|xlsx?|ods|png|jpe?g)\Z",
    re.I,
)
TYPED = "onlinetext.html"  # text typed into Moodle's or Canvas's page
REPORT = "report.md"
TIMESTAMP = "timestamp.txt"  # where nbgrader writes the time of submission
# Files beside the outputs that people or tools write, not jobs.
NO_OUTPUT = {"readme.txt", "requirements.txt", "license.txt", "submission.json"}
OPENED = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")
JOB_FILES = (".sbatch", ".sh")
UNOPENED = (".7z", ".rar", ".zipx", ".tar.zst", ".tzst", ".tar.lz", ".tar.z")


class Kind(StrEnum):
    """The kind of a student's file."""

    OUTPUT = "output"
    ANSWERS = "answers"
    UNREAD_ANSWERS = "unread answers"  # a word processor's file or a picture
    REPORT = "report"
    PROGRAM = "program"
    ARCHIVE = "archive"
    UNOPENED_ARCHIVE = "unopened archive"  # a format that Python's standard library cannot open
    TIMESTAMP = "timestamp"
    CLUTTER = "clutter"  # left behind by operating systems and Python
    OTHER = "other"


WORK = frozenset({Kind.OUTPUT, Kind.ANSWERS})  # without one of these there is nothing to grade
COPIED = WORK | {Kind.UNREAD_ANSWERS, Kind.REPORT, Kind.PROGRAM}


def kind_of(name: str) -> Kind:
    lower = name.lower()
    tests = (
        (Kind.CLUTTER, is_clutter(name)),
        (Kind.ARCHIVE, lower.endswith(OPENED)),
        (Kind.UNOPENED_ARCHIVE, lower.endswith(UNOPENED)),
        (Kind.ANSWERS, is_answers(name)),
        (Kind.REPORT, lower == REPORT),
        (Kind.TIMESTAMP, lower == TIMESTAMP),
        (Kind.UNREAD_ANSWERS, bool(NO_TEXT.match(name))),
        (Kind.OUTPUT, lower not in NO_OUTPUT and ("." not in name or bool(OUTPUT.match(name)))),
        (Kind.PROGRAM, lower.endswith((".py", *JOB_FILES))),
    )
    return next((kind for kind, holds in tests if holds), Kind.OTHER)


def is_answers(name: str) -> bool:
    return name.lower() == ANSWERS or bool(LIKE_ANSWERS.match(name))


def is_package(name: str) -> bool:
    return name.lower().endswith((*OPENED, *UNOPENED))


def is_clutter(name: str) -> bool:
    return name.startswith(".") or name in ("__MACOSX", "__pycache__")


def stem(name: str) -> str:
    """Return the name without an archive's suffix."""
    suffixes = [suffix for suffix in (*OPENED, *UNOPENED) if name.lower().endswith(suffix)]
    return name[: -len(max(suffixes, key=len, default=""))] or name if suffixes else name
