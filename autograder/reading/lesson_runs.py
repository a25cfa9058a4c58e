"""The runs of one lesson, from all that a student handed in for it, as the student knows its files.

A folder is read where it lies unpacked, under names that nobody has seen; what is said of a run
names the files as they were handed in.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath

from autograder.codes import FindingCode, ProblemCode
from autograder.reading.files import read_files
from autograder.reading.formats.reader import Reader
from autograder.records import Run
from autograder.submissions.folders import MOST_FINDINGS, Folder
from autograder.submissions.regular_files import unreadable
from autograder.verdict import Finding, make_finding

LESSON = re.compile(r"[\w-]{1,40}")
HAND_IN_FILE = "hand in the file that the job wrote, which `--output` in the job file names"


def read_runs(folder: Folder, formats: Sequence[Reader] = ()) -> list[Run]:
    """The runs of a lesson, in the usual formats and in those that it brings of its own."""
    runs = read_files(folder.outputs, formats)
    beside: dict[PurePath, list[str]] = {}
    for name in folder.outputs.values():
        beside.setdefault(PurePath(name).with_suffix(""), []).append(name)
    return [replace(run, files=with_error_files(run.files, beside)) for run in runs]


def not_read(runs: Sequence[Run]) -> list[Finding]:
    """A word on each output that could not be read: what it holds is missing from the grade."""
    problems = [
        problem for run in runs for problem in run.problems if problem.code == ProblemCode.UNREAD
    ]
    return [unreadable(p.where.file, p.reason) for p in dict.fromkeys(problems)][:MOST_FINDINGS]


def copied(runs: Sequence[Run]) -> list[Finding]:
    """A word on what was copied from a terminal instead of being handed in as the job wrote it."""
    problems = [
        problem
        for run in runs
        for problem in run.problems
        if problem.code == ProblemCode.TERMINAL_COPY
    ]
    return [
        make_finding(
            "collect",
            FindingCode.TERMINAL_COPY,
            "the job's own output file, as in 02_serial_1234.out",
            f"{problem.where.file}, {problem.reason}",
            [problem.where],
            HAND_IN_FILE,
        )
        for problem in dict.fromkeys(problems)
    ][:MOST_FINDINGS]


def lesson_named(runs: Sequence[Run]) -> str | None:
    """Return the lesson that the outputs name, when the folder does not."""
    lessons = {lesson for run in runs if LESSON.fullmatch(lesson := run.header.lesson or "")}
    return lessons.pop() if len(lessons) == 1 else None


def with_error_files(
    files: tuple[str, ...], beside: Mapping[PurePath, Sequence[str]]
) -> tuple[str, ...]:
    """Also the files that carry the same job's name with another ending: its error stream."""
    same = {name for file in files for name in beside.get(PurePath(file).with_suffix(""), ())}
    return (*files, *sorted(same - set(files)))
