"""Find what a submission's runs tell: files that were not read, and the lesson they belong to."""

import re
from collections.abc import Sequence

from autograder.codes import FindingCode, Outcome
from autograder.notes import Note, make_note
from autograder.records import Run
from autograder.submissions.doubts import MOST
from autograder.submissions.regular_files import unreadable

LESSON = re.compile(r"[\w-]{1,40}")
HAND_IN_FILE = "submit the file that the job wrote; `--output` in the job file gives its name"
# What is expected of an output that was submitted badly, and what to do.
BADLY_SUBMITTED = {
    FindingCode.TERMINAL_COPY: (
        "the job's own output file, such as 02_serial_1234.out",
        HAND_IN_FILE,
    ),
    FindingCode.FILE_TOO_LARGE: (
        "an output of at most a few megabytes",
        "run the program again without its debug output",
    ),
}


def badly_submitted(runs: Sequence[Run]) -> list[Note]:
    """Return a finding for each output that is a terminal's copy, very large or unreadable."""
    unread = problems_of(runs, FindingCode.FILE_UNREADABLE)
    notes = [unreadable(p.where[0].file, p.title) for p in unread]
    for code, (expected, advice) in BADLY_SUBMITTED.items():
        for p in problems_of(runs, code):
            notes.append(
                make_note(code, expected, f"{p.where[0].file}: {p.title}", p.where, advice)
            )
    return notes


def cut_off(runs: Sequence[Run]) -> list[Note]:
    """Return a finding for each run whose record ends within a line, for no other known reason."""
    findings = []
    for run in runs:
        problem = max(run.problems, key=lambda one: one.where[0].line, default=None)
        last = max((epoch.where.line for epoch in run.epochs if epoch.where), default=0)
        torn = problem and problem.code == FindingCode.BAD_LINE and problem.where[0].line > last
        if problem and torn and run.outcome in (Outcome.INCOMPLETE, Outcome.COMPLETED):
            code, found = FindingCode.OUTPUT_CUT, f"{problem.where[0].file}: {problem.title}"
            advice = "copy the file again from where the job wrote it, and submit it again"
            findings.append(make_note(code, "whole lines", found, problem.where, advice))
    return findings


def problems_of(runs: Sequence[Run], code: FindingCode) -> list[Note]:
    """Return the first few distinct problems of this kind."""
    problems = (problem for run in runs for problem in run.problems if problem.code == code)
    return list(dict.fromkeys(problems))[:MOST]


def recorded_lesson(runs: Sequence[Run]) -> str | None:
    """Return the lesson named by a folder's outputs, if the folder itself does not name one."""
    lessons = {lesson for run in runs if LESSON.fullmatch(lesson := run.header.lesson or "")}
    return lessons.pop() if len(lessons) == 1 else None
