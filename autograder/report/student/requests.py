"""Show regrade requests with their answers and what the grade says about them."""

from collections.abc import Iterable
from dataclasses import dataclass

from autograder.settings.policy import Policy, Regrade
from autograder.verdict import Check, Grade, LookReason


@dataclass(frozen=True, slots=True)
class Request:
    student: str
    lesson: str
    asked: Regrade
    answer: str  # empty: none yet
    grade: Grade | None = None
    check: Check | None = None
    tier: str = ""  # like `look`, for the class's table; not for the student
    look: tuple[LookReason, ...] = ()

    @property
    def about(self) -> str:
        title = self.grade.title if self.grade else ""
        what = self.check.title if self.check else self.asked.check or title
        return f"{self.lesson}, {what}" if what else self.lesson

    @property
    def points(self) -> tuple[float | None, float | None]:
        """Return the current points and the maximum."""
        if self.check:
            return self.check.score, self.check.points
        return (self.grade.score, self.grade.max_score) if self.grade else (None, None)


def requests_of_student(student: str, grades: Iterable[Grade], policy: Policy) -> list[Request]:
    by_lesson = {grade.lesson: grade for grade in grades}
    requests = []
    for (name, lesson), those in sorted(policy.regrades.items()):
        grade = by_lesson.get(lesson)
        checks = {check.id: check for check in grade.checks} if grade else {}
        for asked in those if name == student else ():
            answer = policy.answer_to(student, lesson, asked)
            check = checks.get(asked.check)
            requests.append(Request(student, lesson, asked, answer, grade, check))
    return requests
