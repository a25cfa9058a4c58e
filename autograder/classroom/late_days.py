"""Adjust points after measuring: overrides, late days, extensions, excuses and dropped results.

All adjustments come from small files (settings/policy.py), so every grade can be reproduced.
"""

import math
from collections.abc import Container, Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from autograder.classroom.class_settings import ClassSettings
from autograder.classroom.rows import TIME_UNREADABLE
from autograder.codes import GradeStatus
from autograder.safe_text import printable
from autograder.settings.policy import Override, Policy
from autograder.submissions.moments import moment_of
from autograder.verdict import FAILED, PARTIAL, PASSED, Check, Grade
from autograder.wording import counted


def apply(grades: Iterable[Grade], policy: Policy, student: str) -> list[Grade]:
    """For each lesson, apply changed checks, then late days, then changed totals and excuses."""
    left = policy.late.free_days
    changed = []
    for grade in grades:
        overrides = policy.overrides.get((student, grade.lesson), ())
        grade = replace(grade, raw_score=grade.score)
        for change in overrides:
            if change.check:
                grade = _override_check(grade, change)
        grade = _mark_untimed(grade, policy)
        grade, left = _late(grade, policy, student, left)
        for change in overrides:
            if not change.check:
                grade = _override_total(grade, change)
        changed.append(grade)
    absent = set(policy.late.due) - {g.lesson for g in changed}  # the lowest results
    return _drop_lowest(changed, policy.late.drop_lowest - len(absent))


def only_by_hand(student: str, submitted: Container[str], settings: ClassSettings) -> list[Grade]:
    """Return a grade for each unsubmitted lesson whose total is set by an override."""
    return [
        missing(student, lesson, settings)
        for (name, lesson), changes in sorted(settings.policy.overrides.items())
        if name == student and lesson not in submitted and not all(one.check for one in changes)
    ]


def missing(student: str, lesson: str, settings: ClassSettings) -> Grade:
    """Return the grade of an unsubmitted lesson. Only an override turns it into a zero."""
    grade = settings.without_points(printable(student), lesson, GradeStatus.MISSING)
    return apply([grade], settings.policy, student)[0]


def _mark_untimed(grade: Grade, policy: Policy) -> Grade:
    """Mark a grade if the lesson has a due date but the submission has no timestamp.

    If the platform records no times, only the instructor needs to know. If a time was recorded but
    cannot be read, the student needs to know too.
    """
    is_due = grade.score is not None and grade.lesson in policy.late.due
    if not is_due or moment_of(grade.handed_in) is not None:
        return grade
    remarks = [TIME_UNREADABLE] if grade.handed_in else []
    return adjusted(grade, *remarks, untimed=True)


def adjusted(grade: Grade, *remarks: str, **changes: Any) -> Grade:
    """Return the changed grade, with remarks that the student reads."""
    return replace(grade, adjustments=(*grade.adjustments, *remarks), **changes)


def _override_check(grade: Grade, change: Override) -> Grade:
    if change.check not in [c.id for c in grade.checks]:
        unused = (*grade.unused_overrides, nothing_to_change(change))
        return replace(grade, unused_overrides=unused)
    checks = tuple(_changed(c, change) if c.id == change.check else c for c in grade.checks)
    hidden = any(c.hidden for c in checks if c.id == change.check)  # students read this text too
    text = f"{'another check' if hidden else change.check}: {by_hand(change)}"
    score = round(sum(c.score for c in checks), 2)
    return adjusted(grade, text, checks=checks, score=score, status=GradeStatus.GRADED)


def nothing_to_change(change: Override) -> str:
    return f"{change.check}: not judged here, so nothing to change: {change.reason}"


def by_hand(change: Override) -> str:
    return f"{counted(change.points or 0, 'point')} by the instructor: {change.reason}"


def _changed(check: Check, change: Override) -> Check:
    score = change.points or 0.0
    status = PASSED if score >= check.points else PARTIAL if score else FAILED
    return replace(check, score=score, status=status, by_hand=by_hand(change))


def _override_total(grade: Grade, change: Override) -> Grade:
    if change.points is None:
        text = f"excused by the instructor: {change.reason}"
        # Nothing is left to do, so the page gives no advice.
        nothing = {"look": (), "findings": (), "checks": ()}
        return adjusted(grade, text, score=None, status=GradeStatus.EXCUSED, **nothing)
    text = by_hand(change)
    changes = {"score": change.points, "status": GradeStatus.GRADED, "late_points": 0.0}
    return adjusted(grade, text, by_hand=text, **changes)


def _late(grade: Grade, policy: Policy, student: str, left: int) -> tuple[Grade, int]:
    due_text = policy.late.due.get(grade.lesson)
    if due_text is None or grade.score is None:
        return grade, left
    due = datetime.fromisoformat(due_text)
    lines = []
    days, reason = policy.extensions.get((student, grade.lesson), (0.0, ""))
    if days:
        due += timedelta(days=days)
        lines.append(f"extension of {counted(days, 'day')}" + (f": {reason}" if reason else ""))
    moment = moment_of(grade.handed_in)
    lost = 0.0
    late = 0 if moment is None else math.ceil((moment - due) / timedelta(days=1))
    if late > 0:
        free = min(left, late)
        left -= free
        charged = late - free
        of_them = f", {free} of them free" if free else ""
        lines.append(f"submitted {counted(late, 'day')} late{of_them}")
        limit = policy.late.latest_days
        too_late = limit is not None and late > limit
        share = 1.0 if too_late else charged * policy.late.lost_a_day
        if share > 0:
            lost = round(min(grade.score, share * grade.max_score), 2)
            less = f"{counted(lost, 'point')} less"
            lines.append(
                f"more than {counted(limit or 0, 'day')} late counts nothing: {less}"
                if too_late
                else f"{less} for {counted(charged, 'late day')}"
            )
    score = round(grade.score - lost, 2)
    return adjusted(grade, *lines, score=score, late_points=lost), left


def _drop_lowest(grades: list[Grade], count: int) -> list[Grade]:
    """Excuse the lessons in which the student earned the lowest share of the points.

    If two lessons have equal shares, the earlier lesson is excused first.
    """
    scored = [g for g in grades if g.score is not None and g.max_score > 0]
    if count <= 0 or len(scored) <= count:
        return grades
    lowest = sorted(scored, key=lambda g: ((g.score or 0) / g.max_score, g.lesson))[:count]
    dropped = {g.lesson for g in lowest}
    text = "dropped: one of the lowest results"
    return [
        adjusted(g, text, status=GradeStatus.EXCUSED, score=None) if g.lesson in dropped else g
        for g in grades
    ]
