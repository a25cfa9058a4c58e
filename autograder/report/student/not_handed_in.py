"""Find lessons with a due time that are missing from a student's page.

A page may be read at any time, so it shows when a lesson is due, not whether that time is past.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from autograder.settings.policy import Policy
from autograder.verdict import Grade


def not_handed_in(student: str, grades: Sequence[Grade], policy: Policy) -> list[tuple[str, str]]:
    """Return the due times of lessons that are neither submitted nor settled by an override."""
    there = {grade.lesson for grade in grades}
    absent = []
    for lesson, due in sorted(policy.late.due.items()):
        settled = any(not change.check for change in policy.overrides.get((student, lesson), ()))
        if lesson in there or settled:
            continue
        days, _ = policy.extensions.get((student, lesson), (0.0, ""))
        moment = datetime.fromisoformat(due) + timedelta(days=days)
        absent.append((lesson, moment.strftime("%Y-%m-%d %H:%M %Z").strip()))
    return absent
