"""Grade a unit, which is a group of students who share submissions.

Each submission is graded only once.
"""

from collections.abc import Sequence
from dataclasses import replace

from autograder.classroom import one_submission
from autograder.classroom.class_settings import ClassSettings
from autograder.codes import FindingCode, GradeStatus
from autograder.safe_text import printable, shortened
from autograder.submissions.class_folder import Submission, Unit
from autograder.submissions.moments import seconds_of
from autograder.verdict import NO_LESSON, Finding, Grade, make_finding


def mark_unit(unit: Unit, settings: ClassSettings) -> dict[str, list[Grade]]:
    """Return all grades of each student, in order of the lessons."""
    found: dict[str, list[Grade]] = {student: [] for student in unit.students}
    for submission in unit.submissions:
        grade = one_submission.mark(submission, settings)
        for student in submission.students:
            found[student].append(of_student(grade, submission, student))
    return {student: each_lesson_once(grades) for student, grades in found.items()}


def of_student(grade: Grade, submission: Submission, student: str) -> Grade:
    """Return the grade, recorded under this student's name."""
    grade = replace(grade, student=printable(student))
    if submission.owner in submission.students and submission.owner != student:
        grade = replace(grade, findings=(by_partner(submission.owner), *grade.findings))
    return grade


def by_partner(name: str) -> Finding:
    expected, found = "one submission for a group", "it counts for every member"
    name = shortened(name, 60)
    return make_finding("collect", FindingCode.BY_PARTNER, expected, found, (), name=name)


def each_lesson_once(grades: Sequence[Grade]) -> list[Grade]:
    """Return one grade per lesson.

    If there are several submissions, prefer one that contains work, then the latest one. Its grade
    also gets findings about unreadable files in the other submissions.
    """
    by_lesson: dict[str, list[Grade]] = {}
    for grade in grades:
        by_lesson.setdefault(grade.lesson, []).append(grade)
    loose = by_lesson.pop(NO_LESSON, []) if len(by_lesson) > 1 else []
    first, *others = [with_findings(*by_lesson[lesson]) for lesson in sorted(by_lesson)]
    said = [one for one in loose if [f.code for f in one.findings] != [FindingCode.NOTHING_FOUND]]
    return [with_findings(first, *said), *others]


def with_findings(*same: Grade) -> Grade:
    first, *others = sorted(same, key=counts_less)
    unread = [one for one in others if one.status == GradeStatus.MISSING]
    findings = dict.fromkeys([*first.findings, *(f for one in unread for f in one.findings)])
    look = dict.fromkeys([*first.look, *(reason for one in unread for reason in one.look)])
    return replace(first, findings=tuple(findings), look=tuple(look)) if unread else first


def counts_less(grade: Grade) -> tuple[bool, float]:
    return grade.status == GradeStatus.MISSING, -(seconds_of(grade.handed_in) or 0.0)
