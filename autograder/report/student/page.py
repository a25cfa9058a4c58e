"""Make a student's page: a single file without scripts or external parts."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from autograder.codes import GradeStatus, Outcome
from autograder.grouping import grouped
from autograder.records import Where
from autograder.report import pictures
from autograder.report.rendering import render
from autograder.report.signs import SIGNS
from autograder.report.student import said_once
from autograder.report.student.missing import Absent
from autograder.report.student.next_steps import for_student, lesson_number, next_steps
from autograder.submissions.quoted import AROUND
from autograder.verdict import Check, Grade, Part, Point, QuotedLine

OPERATOR = re.compile(r"(?<!\S)([<>≤≥=]+) (?=\S)")
MANY = 2  # lessons; with more, the details are folded away

Curves = Mapping[str, Mapping[str, Sequence[tuple[int, float]]]]


def curves(grade: Grade) -> Iterator[tuple[str, list[tuple[int, Point]]]]:
    """Yield speedups by number of workers for every program that ran at several sizes."""
    finished = (run for run in grade.runs if run.outcome == Outcome.COMPLETED)
    for program, runs in sorted(grouped((run.program, run) for run in finished).items()):
        line = [(run.workers or 0, run.speedup) for run in runs if run.speedup]
        line = [(workers, speedup) for workers, speedup in line if workers > 1]
        if line and any(run.workers == 1 for run in runs):
            yield program, [(1, Point(1.0, 1.0, 1.0)), *line]


def met(check: Check) -> list[tuple[str, str]]:
    """Return the values found for a passed check, each with the required value.

    For answers, return only their number.
    """
    parts = {part.actual: part for part in reversed(check.parts)}  # of equal ones, the first
    if check.actual != "; ".join(dict.fromkeys(part.actual for part in check.parts)):
        return [(check.actual, "")]
    return [(part.actual, required(part)) for part in reversed(parts.values())]


def required(part: Part) -> str:
    """Return the required value, with a non-breaking space after an operator such as `>`."""
    text = part.expected.removeprefix(f"{part.name}: ").partition(" (run `")[0]
    return OPERATOR.sub("\\1\N{NO-BREAK SPACE}", text)


def quoted_near(grade: Grade, places: Iterable[Where]) -> list[tuple[QuotedLine, bool]]:
    """Return the quoted lines at and near these places. True marks the lines at a place."""
    lines = {(one.file, one.line): one for one in grade.quoted}
    meant = lines.keys() & {(one.file, one.line) for one in places}
    near = {(file, at) for file, line in meant for at in range(line - AROUND, line + AROUND + 1)}
    return [(lines[key], key in meant) for key in sorted(near & lines.keys())]


def check_marks(grade: Grade) -> str:
    return " ".join(SIGNS.get(c.status, "!") for c in grade.checks if c.points and not c.hidden)


FUNCTIONS = {  # of the template
    one.__name__: one for one in (curves, met, quoted_near, check_marks, lesson_number, for_student)
}


def counts(grade: Grade, uncounted: Collection[str]) -> bool:
    """Return whether a lesson counts, as on the class page: it has points or is missing."""
    missing = grade.status == GradeStatus.MISSING and grade.lesson not in uncounted
    return bool(lesson_number(grade)) and (missing or grade.score is not None)


def student_page(
    name: str,
    grades: Sequence[Grade],
    references: Curves,
    absent: Sequence[Absent] = (),
    uncounted: Collection[str] = (),
    heading: str = "Grades",
) -> str:
    """Return the page of a student.

    Hidden checks count but are not shown. `absent` contains the lessons that were not
    submitted. `uncounted` contains lessons that could not be graded and that do not count.
    """
    remarks = said_once.remarks(grades)
    counting = [grade.max_score for grade in grades if counts(grade, uncounted)]
    counting += [one.points for one in absent if one.points > 0]
    return render(
        "student.html.j2",
        heading=heading,
        student=name,
        grades=grades,
        references=references,
        total=sum(grade.score or 0 for grade in grades),
        counting=counting,
        steps=next_steps(grades),
        advice=any(for_student(note) for note, *_ in remarks),
        absent=absent,
        remarks=remarks,
        alike=said_once.adjusted_alike(grades),
        many=len(grades) > MANY,
        said_once=said_once,
        draw=pictures,
        **FUNCTIONS,
    )
