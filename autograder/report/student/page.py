"""Make a student's page: a single file without scripts or external parts.

A page may be read at any time, so it shows when a lesson is due, not whether that time is past.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from autograder.codes import GradeStatus, Outcome
from autograder.grouping import grouped
from autograder.report import pictures
from autograder.report.rendering import SIGNS, render
from autograder.report.student import said_once
from autograder.report.student.next_steps import for_student, lesson_number, next_steps
from autograder.settings.policy import Policy
from autograder.verdict import Check, Grade, Point


@dataclass(frozen=True, slots=True)
class Absent:
    """A lesson that a student did not submit."""

    lesson: str
    due: str = ""
    points: float = 0.0  # its share of the possible points, as on the class page


def points_lost(row: Grade, policy: Policy) -> float:
    """Return the points of a missing lesson: none if others are due and it is not."""
    due = policy.late.due
    counts = not due or row.lesson in due or bool(row.look)
    return row.max_score if row.status == GradeStatus.MISSING and row.title and counts else 0.0


def not_handed_in(
    student: str, grades: Sequence[Grade], policy: Policy, lost: Mapping[str, float]
) -> list[Absent]:
    """Return the lessons that are due or lose points, and that no override settles."""
    own, absent = {grade.lesson for grade in grades}, []
    for lesson in sorted({*policy.late.due, *(name for name in lost if lost[name])} - own):
        if all(change.check for change in policy.overrides.get((student, lesson), ())):
            moment = policy.due(student, lesson)
            text = moment.strftime("%Y-%m-%d %H:%M %Z").strip() if moment else ""
            absent.append(Absent(lesson, text, lost.get(lesson, 0.0)))
    return absent


MANY = 2  # lessons; with more, the details are folded away


def curves(grade: Grade) -> Iterator[tuple[str, list[tuple[int, Point]]]]:
    """Yield speedups by number of workers for every program that ran at several sizes."""
    finished = (run for run in grade.runs if run.outcome == Outcome.COMPLETED)
    for program, runs in sorted(grouped((run.program, run) for run in finished).items()):
        line = [(run.workers or 0, run.speedup) for run in runs if run.speedup]
        line = [(workers, speedup) for workers, speedup in line if workers > 1]
        if line and any(run.workers == 1 for run in runs):
            yield program, [(1, Point(1.0, 1.0, 1.0)), *line]


def met(check: Check) -> list[tuple[str, str]]:
    """Return the values of a passed check, each with the required one; of answers, the number."""
    parts = [same[0] for same in grouped((part.actual, part) for part in check.parts).values()]
    if check.actual != "; ".join(part.actual for part in parts):
        return [(check.actual, "")]
    return [
        (part.actual, part.expected.removeprefix(f"{part.name}: ").partition(" (run `")[0])
        for part in parts
    ]


def check_marks(grade: Grade) -> str:
    return " ".join(SIGNS.get(c.status, "!") for c in grade.checks if c.points)


def counts(grade: Grade, uncounted: Collection[str]) -> bool:
    """Return whether a lesson counts, as on the class page: it has points or is missing."""
    missing = grade.status == GradeStatus.MISSING and grade.lesson not in uncounted
    return bool(lesson_number(grade)) and (missing or grade.score is not None)


FUNCTIONS = (curves, met, check_marks, lesson_number, for_student)


def student_page(
    name: str,
    grades: Sequence[Grade],
    absent: Sequence[Absent] = (),
    uncounted: Collection[str] = (),
    heading: str = "Grades",
) -> str:
    """Return the page of a student.

    `absent` contains the lessons that were not submitted. `uncounted` contains lessons that could
    not be graded and that do not count.
    """
    remarks = said_once.remarks(grades)
    counting = [grade.max_score for grade in grades if counts(grade, uncounted)]
    counting += [lesson.points for lesson in absent if lesson.points > 0]
    return render(
        "student.html.j2",
        heading=heading,
        student=name,
        grades=grades,
        total=sum(grade.score or 0 for grade in grades),
        counting=counting,
        steps=next_steps(grades),
        advice=any(for_student(note) for note, *_ in remarks),
        absent=absent,
        remarks=remarks,
        many=len(grades) > MANY,
        said_once=said_once,
        draw=pictures,
        **{function.__name__: function for function in FUNCTIONS},
    )
