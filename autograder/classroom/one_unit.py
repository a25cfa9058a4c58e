"""Grade a unit, which is a group of students who share submissions, and publish its grades.

Each submission is graded only once. A unit's pages and records are written before its state, so an
interruption loses no results.
"""

import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.classroom import kept, late_days, one_submission
from autograder.classroom.class_settings import ClassSettings
from autograder.classroom.kept import Done
from autograder.classroom.rows import row_of
from autograder.codes import FindingCode, GradeStatus
from autograder.errors import SettingsError
from autograder.grouping import grouped
from autograder.safe_text import file_name, printable, shortened
from autograder.submissions.class_folder import Submission, Unit
from autograder.submissions.moments import seconds_of
from autograder.verdict import GRADER_ERROR, NO_LESSON, Grade, make_finding

SECONDS_A_UNIT = 600
Publish = Callable[[str, Sequence[Grade], str], None]  # student, grades, name of the page


class TooLongError(BaseException):
    """Grading a unit took too long.

    This is not an Exception, so code that continues after an unreadable file does not catch it.
    """


@dataclass(frozen=True, slots=True)
class Work:
    """The data that every grading process needs."""

    settings: ClassSettings
    out: Path | None  # the folder for results; None: nothing is kept
    publish: Publish
    reuse: bool = True  # reuse the results of unchanged units


def guarded(unit: Unit, work: Work) -> Done:
    """Grade a unit with a time limit, and turn the grader's own errors into a grade."""
    signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(SECONDS_A_UNIT)
    try:
        return grade_unit(unit, work)
    except SettingsError:
        raise
    except (Exception, TooLongError) as error:
        return failed(unit, work, error)
    finally:
        signal.alarm(0)


def _too_long(signum: int, frame: object) -> None:
    raise TooLongError(f"grading took more than {SECONDS_A_UNIT} s")


def grade_unit(unit: Unit, work: Work) -> Done:
    """Grade a unit and publish it. Then save its state, unless the grader failed.

    A saved state therefore means that the pages exist.
    """
    key = kept.state_of(unit, work.settings) if work.out else ""
    grades = mark_unit(unit, work.settings)
    if any(grade.status == GRADER_ERROR for mine in grades.values() for grade in mine):
        key = ""  # grade it again next time
    done = publish(unit, grades, work, key)
    if work.out:
        kept.keep(work.out, done)
    return done


def failed(unit: Unit, work: Work, error: BaseException) -> Done:
    lessons = sorted({one.lesson for one in unit.submissions if one.lesson}) or ["?"]
    grades = {
        student: [
            one_submission.grader_error(student, lesson, work.settings, error) for lesson in lessons
        ]
        for student in unit.students
    }
    return publish(unit, grades, work)


def publish(unit: Unit, grades: Mapping[str, Sequence[Grade]], work: Work, key: str = "") -> Done:
    rows = []
    for student, mine in grades.items():
        page = f"{file_name(student)}.html"
        work.publish(student, mine, page)
        rows += [row_of(one, page, unit.partners_of(student, one.lesson)) for one in mine]
    return Done(unit.name, key, tuple(rows))


# --- the grades of each student -----------------------------------------------------------------


def mark_unit(unit: Unit, settings: ClassSettings) -> dict[str, list[Grade]]:
    """Return all grades of each student, in order of the lessons, with all adjustments."""
    found: dict[str, list[Grade]] = {student: [] for student in unit.students}
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
    by_partner = make_finding("collect", code, expected, found, (), name=name)
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
    look = dict.fromkeys([*first.look, *(reason for one in unread for reason in one.look)])
    return replace(first, findings=tuple(findings), look=tuple(look)) if unread else first


def counts_less(grade: Grade) -> tuple[bool, float]:
    return grade.status == GradeStatus.MISSING, -(seconds_of(grade.handed_in) or 0.0)
