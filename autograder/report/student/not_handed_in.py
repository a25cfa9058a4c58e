"""Find the lessons that a student has not submitted, for the student's page.

A page may be read at any time, so it shows when a lesson is due, not whether that time is past.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from autograder.settings.policy import Policy
from autograder.verdict import Grade


@dataclass(frozen=True, slots=True)
class Absent:
    """A lesson that a student did not submit."""

    lesson: str
    due: str = ""
    points: float = 0.0  # its share of the possible points, as on the class page


def not_handed_in(
    student: str, grades: Sequence[Grade], policy: Policy, counted: Mapping[str, float]
) -> list[Absent]:
    """Return the lessons that are neither submitted nor settled by an override.

    These are lessons with a due time and lessons in `counted`, which maps lessons that others
    submitted to their points.
    """
    there = {grade.lesson for grade in grades}
    absent = []
    for lesson in sorted({*policy.late.due, *counted} - there):
        if any(not change.check for change in policy.overrides.get((student, lesson), ())):
            continue
        due = policy.late.due.get(lesson)
        days, _ = policy.extensions.get((student, lesson), (0.0, ""))
        moment = datetime.fromisoformat(due) + timedelta(days=days) if due else None
        text = moment.strftime("%Y-%m-%d %H:%M %Z").strip() if moment else ""
        absent.append(Absent(lesson, text, counted.get(lesson, 0.0)))
    return absent
