"""Report to a student before submission: what is decided, missing or up to the instructor."""

from collections.abc import Iterable, Sequence

from autograder.classroom.self_grade import SelfGrade, Undecided
from autograder.codes import LEFT_TO_INSTRUCTOR, GradeStatus
from autograder.grouping import grouped
from autograder.report.rendering import check_line, render, standing
from autograder.report.student.next_steps import for_student
from autograder.report.student.said_once import reasons_in
from autograder.safe_text import LONGEST, printable
from autograder.settings.rubric_schema import depends_on_profile
from autograder.verdict import NOT_MEASURED, Part


def text(grades: Sequence[SelfGrade], chosen: bool, brief: bool = False) -> str:
    """Return the report.

    `chosen`: whether the student named the profile. `brief`: omit the reasons.
    """
    empty = [own for own in grades if grades[1:] and own.grade.status == GradeStatus.MISSING]
    report = render(
        "self_report.txt.j2",
        grades=[own for own in grades if own not in empty],
        empty=[own.grade.lesson for own in empty],
        chosen=chosen,
        brief=brief,
        legend_needed=any(own.grade.checks for own in grades),
        check_line=check_line,
        reasons_in=reasons_in,
        for_student=for_student,
        decided_parts=decided_parts,
        by_hint=by_hint,
        own_standing=own_standing,
        depends_on_profile=depends_on_profile,
    )
    return "\n".join(printable(line, LONGEST) for line in report.split("\n"))


def own_standing(own: SelfGrade) -> str:
    """Return the standing of a lesson that has not been submitted yet."""
    earned = sum(check.score for check in own.grade.checks)
    return standing(earned, sum(check.points for check in own.grade.checks), own.open_points)


def decided_parts(parts: Iterable[Part]) -> list[Part]:
    """Return the reasons that do not depend on the instructor."""
    return [p for p in parts if p.status != NOT_MEASURED or p.code not in LEFT_TO_INSTRUCTOR]


def by_hint(undecided: Iterable[Undecided]) -> dict[str, list[str]]:
    """Return the names of undecided answers, grouped by hint. Those without a hint come first."""
    asked = (left for left in undecided if left.points and not (left.looks or left.by_hand))
    in_order = sorted(asked, key=lambda left: bool(left.hint))
    return grouped((left.hint, left.about) for left in in_order)
