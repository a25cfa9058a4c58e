"""Give each student their grades, adjusted by the class's policy.

A submission counts for each of its students. Then come changed checks, late days, and changed
totals and excuses, all from small files (settings/policy.py), so every grade can be reproduced.
"""

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import chain
from typing import Any

from autograder.classroom.class_settings import ClassSettings
from autograder.codes import FindingCode, GradeStatus
from autograder.grouping import grouped
from autograder.notes import make_note
from autograder.safe_text import shortened
from autograder.settings.policy import Override, Policy
from autograder.submissions.class_folder import Submission
from autograder.submissions.moments import moment_of, seconds_of
from autograder.verdict import FAILED, NO_LESSON, PARTIAL, PASSED, WAITS, Grade
from autograder.wording import counted

WITH_LESSON = "decided with the points of the whole lesson"


def with_policy(
    submissions: Sequence[Submission], graded: Sequence[Grade], settings: ClassSettings
) -> list[Grade]:
    """Return the grades of each student, in order of the lessons, with all adjustments.

    `graded` has the grade of each submission.
    """
    by_student = grouped(
        (student, of_student(grade, submission, student))
        for submission, grade in zip(submissions, graded, strict=True)
        for student in submission.students
    )
    changed: list[Grade] = []
    for student in sorted(by_student.keys() | settings.people.keys()):
        own = each_lesson_once(by_student.get(student, []))
        changed += apply(own, settings.policy, student)
        changed += by_hand_alone(student, {grade.lesson for grade in own}, settings)
    return changed


def of_student(grade: Grade, submission: Submission, student: str) -> Grade:
    """Return the grade, recorded under this student's name."""
    partners = {*submission.students, *submission.partners} - {student}
    grade = replace(grade, student=student, partners=tuple(sorted(partners)))
    if submission.owner == student or submission.owner not in submission.students:
        return grade
    by_partner = make_note(FindingCode.BY_PARTNER, name=shortened(submission.owner, 60))
    return replace(grade, findings=(by_partner, *grade.findings))


def each_lesson_once(grades: Iterable[Grade]) -> list[Grade]:
    """Return one grade per lesson: the one that contains work, or the latest one.

    It also gets findings about unreadable files in the other submissions.
    """
    by_lesson = grouped((grade.lesson, grade) for grade in grades)
    if len(by_lesson) > 1:  # files of no lesson are reported with the first one
        by_lesson[min(by_lesson.keys() - {NO_LESSON})] += by_lesson.pop(NO_LESSON, [])
    return [merged(by_lesson[lesson]) for lesson in sorted(by_lesson)]


def merged(same: Sequence[Grade]) -> Grade:
    def counts_less(grade: Grade) -> tuple[bool, bool, float]:
        time = seconds_of(grade.handed_in) or 0.0
        return grade.lesson == NO_LESSON, grade.status == GradeStatus.MISSING, -time

    first, *others = sorted(same, key=counts_less)
    unread = (grade.findings for grade in others if grade.status == GradeStatus.MISSING)
    more = (note for note in chain(*unread) if note.code != FindingCode.NOTHING_FOUND)
    partners = {partner for grade in same for partner in grade.partners}
    findings = tuple(dict.fromkeys([*first.findings, *more]))
    return replace(first, findings=findings, partners=tuple(sorted(partners)))


def apply(grades: Iterable[Grade], policy: Policy, student: str) -> list[Grade]:
    """For each lesson, apply changed checks, late days, rounding, changed totals and excuses."""
    left = policy.late.free_days
    changed = []
    for grade in grades:
        overrides = policy.overrides.get((student, grade.lesson), ())
        seen = tuple(change.check for change in overrides if change.check and change.points is None)
        grade = replace(grade, raw_score=grade.score, seen=seen)
        for change in overrides:
            if change.check and change.points is not None:
                grade = _override_check(grade, change)
        grade, left = _late(grade, policy, student, left)
        grade = _rounded(grade, policy.step)
        for change in overrides:
            if not change.check:
                grade = _override_total(grade, change)
        changed.append(grade)
    return changed


def by_hand_alone(student: str, submitted: Collection[str], settings: ClassSettings) -> list[Grade]:
    """Return a grade for each unsubmitted lesson whose total is set by an override."""
    rows = sorted(settings.policy.overrides.items())
    totals = [key for key, changes in rows if not all(change.check for change in changes)]
    lessons = [lesson for name, lesson in totals if name == student and lesson not in submitted]
    return [missing(student, lesson, settings) for lesson in lessons]


def missing(student: str, lesson: str, settings: ClassSettings) -> Grade:
    """Return the grade of an unsubmitted lesson. Only an override turns it into a zero."""
    grade = settings.without_points(student, lesson, GradeStatus.MISSING)
    return apply([grade], settings.policy, student)[0]


def adjusted(grade: Grade, *remarks: str, **changes: Any) -> Grade:
    """Return the changed grade, with remarks that the student reads."""
    return replace(grade, adjustments=(*grade.adjustments, *remarks), **changes)


def by_hand(change: Override) -> str:
    return f"{counted(change.points or 0, 'point')} by the instructor: {change.reason}"


def _override_check(grade: Grade, change: Override) -> Grade:
    check = next((check for check in grade.checks if check.id == change.check), None)
    if check is None:
        text = f"{change.check}: not judged here, so nothing to change: {change.reason}"
        return replace(grade, unused_overrides=(*grade.unused_overrides, text))
    points = change.points or 0.0
    status = PASSED if points >= check.points else PARTIAL if points else FAILED
    by_instructor = replace(check, score=points, status=status, by_hand=by_hand(change))
    waited = check.points if check.status == WAITS else 0.0
    decided = {"max_score": grade.max_score + waited, "waiting": grade.waiting - waited}
    checks = tuple(by_instructor if other is check else other for other in grade.checks)
    score = round(sum(check.score for check in checks), 2)
    text = f"{change.check}: {by_hand(change)}"
    return adjusted(grade, text, checks=checks, score=score, status=GradeStatus.GRADED, **decided)


def _override_total(grade: Grade, change: Override) -> Grade:
    if change.points is None:
        text = f"excused by the instructor: {change.reason}"
        # Nothing is left to do, so the page gives no advice.
        nothing = {"findings": (), "checks": ()}
        excused = adjusted(grade, text, score=None, status=GradeStatus.EXCUSED, **nothing)
        return replace(excused, unrounded=None)
    text = by_hand(change)
    changes = {"score": change.points, "status": GradeStatus.GRADED, "late_points": 0.0}
    changes |= {"max_score": grade.worth, "waiting": 0.0, "unrounded": None}
    checks = (replace(c, by_hand=WITH_LESSON) if c.status == WAITS else c for c in grade.checks)
    return adjusted(grade, text, by_hand=text, checks=tuple(checks), **changes)


def _rounded(grade: Grade, step: float | None) -> Grade:
    """Return the grade rounded to the nearest multiple of the step, halves upwards."""
    if step is None or grade.score is None:
        return grade
    nearest = round(math.floor(grade.score / step + 0.5 + 1e-9) * step, 4)
    score = min(nearest, max(grade.max_score, grade.score))
    return replace(grade, score=score, unrounded=grade.score) if score != grade.score else grade


def _late(grade: Grade, policy: Policy, student: str, left: int) -> tuple[Grade, int]:
    """Return the grade after the late penalty, and the number of free late days that are left.

    A submission without a time is on time.
    """
    rules, end = policy.late, policy.due(student, grade.lesson)
    if end is None or grade.score is None:
        return grade, left
    moment = moment_of(grade.handed_in)
    lines = []
    days, reason = policy.extensions.get((student, grade.lesson), (0.0, ""))
    if days:
        lines.append(f"extension of {counted(days, 'day')}" + (f": {reason}" if reason else ""))
    late = max(0, math.ceil((moment - end) / timedelta(days=1))) if moment else 0
    free = min(left, late)
    if late:
        of_them = f", {free} of them free" if free else ""
        lines.append(f"submitted {counted(late, 'day')} late{of_them}")
    charged = (late - free) * grade.max_score * rules.penalty_a_day
    lost = round(min(grade.score, charged), 2)
    if charged > 0:
        lines.append(f"{counted(lost, 'point')} less for {counted(late - free, 'late day')}")
    score, untimed = round(grade.score - lost, 2), moment is None
    grade = adjusted(grade, *lines, score=score, late_points=lost, untimed=untimed)
    return grade, left - free
