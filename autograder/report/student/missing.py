"""Find the lessons that a student has not submitted, for the student's page and the class page.

A page may be read at any time, so it shows when a lesson is due, not whether that time is past.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from autograder.codes import GradeStatus
from autograder.settings.policy import Policy
from autograder.verdict import Grade


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


def due_time(student: str, lesson: str, policy: Policy) -> datetime | None:
    """Return when a lesson is due for a student, with the student's extension."""
    due, (days, _) = policy.late.due.get(lesson), policy.extensions.get((student, lesson), (0, ""))
    return datetime.fromisoformat(due) + timedelta(days=days) if due else None


def not_handed_in(
    student: str, grades: Sequence[Grade], policy: Policy, lost: Mapping[str, float]
) -> list[Absent]:
    """Return the lessons that are due or lose points, and that no override settles."""
    own, absent = {grade.lesson for grade in grades}, []
    for lesson in sorted({*policy.late.due, *(name for name in lost if lost[name])} - own):
        if all(change.check for change in policy.overrides.get((student, lesson), ())):
            moment = due_time(student, lesson, policy)
            text = moment.strftime("%Y-%m-%d %H:%M %Z").strip() if moment else ""
            absent.append(Absent(lesson, text, lost.get(lesson, 0.0)))
    return absent
