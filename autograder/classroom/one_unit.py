"""Grade a unit, which is a group of students who share submissions.

Each submission is graded only once.
"""

import signal
from collections.abc import Sequence
from dataclasses import replace

from autograder.classroom import late_days, one_submission
from autograder.classroom.class_settings import ClassSettings
from autograder.codes import FindingCode, GradeStatus
from autograder.errors import SettingsError
from autograder.grouping import grouped
from autograder.notes import make_note
from autograder.safe_text import printable, shortened
from autograder.submissions.class_folder import Submission, Unit
from autograder.submissions.moments import seconds_of
from autograder.verdict import NO_LESSON, Grade

SECONDS_A_UNIT = 600
Grades = dict[str, list[Grade]]  # by student


class TooLongError(BaseException):
    """Grading a unit took too long.

    This is not an Exception, so code that continues after an unreadable file does not catch it.
    """


def guarded(unit: Unit, settings: ClassSettings) -> Grades:
    """Grade a unit with a time limit, and turn the grader's own errors into a grade."""
    signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(SECONDS_A_UNIT)
    try:
        return mark_unit(unit, settings)
    except SettingsError:
        raise
    except (Exception, TooLongError) as error:
        return failed(unit, settings, error)
    finally:
        signal.alarm(0)


def _too_long(signum: int, frame: object) -> None:
    raise TooLongError(f"grading took more than {SECONDS_A_UNIT} s")


def failed(unit: Unit, settings: ClassSettings, error: BaseException) -> Grades:
    lessons = sorted({one.lesson for one in unit.submissions if one.lesson}) or ["?"]
    return {
        student: [
            one_submission.grader_error(student, lesson, settings, error) for lesson in lessons
        ]
        for student in unit.students
    }


# --- the grades of each student -----------------------------------------------------------------


def mark_unit(unit: Unit, settings: ClassSettings) -> Grades:
    """Return all grades of each student, in order of the lessons, with all adjustments."""
    found: Grades = {student: [] for student in unit.students}
    for submission in unit.submissions:
        grade = one_submission.mark(submission, settings)
        for student in submission.students:
            found[student].append(of_student(grade, submission, student))
    for student, grades in found.items():
        mine = late_days.apply(each_lesson_once(grades), settings.policy, student)
        mine += late_days.only_by_hand(student, {grade.lesson for grade in mine}, settings)
        found[student] = mine
    return found


def of_student(grade: Grade, submission: Submission, student: str) -> Grade:
    """Return the grade, recorded under this student's name."""
    grade = replace(grade, student=printable(student))
    if submission.owner == student or submission.owner not in submission.students:
        return grade
    name, expected = shortened(submission.owner, 60), "one submission for a group"
    found, code = "it counts for every member", FindingCode.BY_PARTNER
    by_partner = make_note(code, expected, found, (), name=name)
    return replace(grade, findings=(by_partner, *grade.findings))


def each_lesson_once(grades: Sequence[Grade]) -> list[Grade]:
    """Return one grade per lesson.

    If there are several submissions, prefer one that contains work, then the latest one. Its grade
    also gets findings about unreadable files in the other submissions.
    """
    by_lesson = grouped((grade.lesson, grade) for grade in grades)
    loose = by_lesson.pop(NO_LESSON, []) if len(by_lesson) > 1 else []
    first, *others = [with_findings(*by_lesson[lesson]) for lesson in sorted(by_lesson)]
    said = [one for one in loose if [f.code for f in one.findings] != [FindingCode.NOTHING_FOUND]]
    return [with_findings(first, *said), *others]


def with_findings(*same: Grade) -> Grade:
    first, *others = sorted(same, key=counts_less)
    unread = [one for one in others if one.status == GradeStatus.MISSING]
    findings = dict.fromkeys([*first.findings, *(f for one in unread for f in one.findings)])
    return replace(first, findings=tuple(findings)) if unread else first


def counts_less(grade: Grade) -> tuple[bool, float]:
    return grade.status == GradeStatus.MISSING, -(seconds_of(grade.handed_in) or 0.0)
