"""Determine a file's kind, lesson and job from its name."""

import re
from collections.abc import Collection
from enum import StrEnum
from pathlib import Path, PurePath
from typing import NamedTuple

OUTPUT = re.compile(r".*(\.(out|err|er|log|txt|ou|stdout|stderr|output)|\.[oe]\d+|\.[oe])\Z", re.I)
# answers.txt and its variants by people and systems: answers.txt.txt, Answers (1).txt,
# answers-2.txt, answers.md and answers.
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
COPIED = WORK | {Kind.REPORT, Kind.PROGRAM}


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
    return bool(LIKE_ANSWERS.match(name))


def is_package(name: str) -> bool:
    return name.lower().endswith((*OPENED, *UNOPENED))


def is_clutter(name: str) -> bool:
    return name.startswith(".") or name in ("__MACOSX", "__pycache__")


def stem(name: str) -> str:
    """Return the name without an archive's suffix."""
    suffixes = [suffix for suffix in (*OPENED, *UNOPENED) if name.lower().endswith(suffix)]
    return name[: -len(max(suffixes, key=len, default=""))] or name if suffixes else name


# --- lessons -----------------------------------------------------------------------------------

LESSON = re.compile(r"(?:lesson[-_ ]?)?(\d\d)(?:[-_. ].*)?\Z", re.IGNORECASE)


def lesson_of(name: str) -> str | None:
    """Return `02` for names such as `02_serial` or `Lesson-02`, otherwise None."""
    match = LESSON.match(name)
    return match[1] if match else None


def folder_lesson(name: str, lessons: Collection[str]) -> str | None:
    """Return the lesson that a folder is named after.

    `02_serial` is lesson 02, even without a rubric, and `practical1-ada` is practical1.
    """
    if name in lessons:
        return name
    begins = [
        lesson
        for lesson in lessons
        if re.match(rf"(?:lesson[-_ ]?)?{re.escape(lesson)}(?![^\W_])", name, re.IGNORECASE)
    ]
    return max(begins, key=len, default=None) or lesson_of(name)


def lesson_among(name: str, lessons: Collection[str]) -> str | None:
    """Return the lesson that a name refers to: `02`, `2` and `02_serial` are lesson 02."""
    forms = (name, name and name.zfill(2), folder_lesson(name, lessons))
    return next((lesson for lesson in forms if lesson in lessons), None)


# --- jobs --------------------------------------------------------------------------------------


# name.o123 and name.e123 as PBS and SGE write them; name.out, name.err and similar names
NUMBERED = re.compile(r"^(?P<stem>.{1,200})\.(?P<kind>[oe])(?P<job>\d{1,12})(?:\.\d{1,6})?$")
SUFFIX = re.compile(r"\.(?P<kind>out?|err?|o|e|log|txt|stdout|stderr|output|error)$", re.I)
ERROR_KINDS = {"e", "er", "err", "stderr", "error"}
# the last number of at least four digits; the number of an array task may follow
JOB = re.compile(r"(?:^|[^\d])(?P<job>\d{4,12})(?P<task>_\d{1,5})?(?:[-_.]?[A-Za-z]{0,20})$")
DATE = re.compile(r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])$")
SLURM = re.compile(r"^slurm-(?P<job>\d{1,12})(?P<task>_\d{1,5})?$")


class OutputName(NamedTuple):
    """The facts in an output file's name."""

    shared: str  # the part that all files of its job share
    is_error: bool  # whether it is the job's error output
    job_id: str | None


def output_name(name: str) -> OutputName:
    path = PurePath(name)
    numbered = NUMBERED.match(path.name)
    if numbered:
        shared = f"{numbered['stem']}.{numbered['job']}"
        return OutputName(str(path.with_name(shared)), numbered["kind"] == "e", numbered["job"])
    base, is_error = path.name, False
    while (suffix := SUFFIX.search(base)) and suffix.start() > 0:
        is_error = is_error or suffix["kind"].lower() in ERROR_KINDS
        base = base[: suffix.start()]
    return OutputName(str(path.with_name(base)), is_error, job_id(base))


def seems_of_a_job(name: str) -> bool:
    """Return whether a file's name is a job output's, not one that people also give to notes."""
    return PurePath(name).suffix.lower() not in ("", ".txt") or bool(output_name(name).job_id)


def job_id(base: str) -> str | None:
    """Return the job id in a file's name, unless it could also be a date or a time."""
    match = SLURM.match(base) or JOB.search(base)
    job = match["job"] if match else ""
    before = base[: match.start("job")].rstrip("-_T") if match else ""
    if not match or DATE.match(job) or (len(job) in (4, 6) and DATE.search(before)):
        return None
    return job + (match["task"] or "") if SLURM.match(base) else job


def with_error_outputs(paths: Collection[Path]) -> list[Path]:
    """Return the files and the error outputs of their jobs in the same folder.

    Often only the error output shows why a job ended.
    """
    jobs = {output_name(str(path)).shared for path in paths}
    beside = sorted(path for folder in {path.parent for path in paths} for path in folder.glob("*"))
    names = {path: output_name(str(path)) for path in beside if path.is_file()}
    errors = (path for path, name in names.items() if name.is_error and name.shared in jobs)
    return list(dict.fromkeys([*paths, *(path for path in errors if path.stat().st_size)]))
