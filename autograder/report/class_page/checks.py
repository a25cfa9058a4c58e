"""Count the students who passed each check, and find the common reasons why others did not."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from autograder.classroom.rows import Row
from autograder.verdict import BORDERLINE, PASSED

NUMBER = re.compile(r"\d+(?:[.,]\d+)*(?:e[-+]?\d+)?")

Titles = Mapping[str, Mapping[str, str]]  # lesson -> check -> title


@dataclass(frozen=True, slots=True)
class CheckOfClass:
    id: str
    title: str
    points: float
    passed: int
    judged: int
    reason: str = ""
    having: int = 0  # number of those who missed the check that have this reason

    @property
    def share(self) -> float:
        return self.passed / self.judged if self.judged else 0.0

    @property
    def missed(self) -> int:
        return self.judged - self.passed


@dataclass(frozen=True, slots=True)
class LessonOfClass:
    rows: Sequence[Row]
    checks: Sequence[CheckOfClass]  # in the rubric's order

    @property
    def title(self) -> str:
        return f"{self.rows[0].lesson} {self.rows[0].title}"

    @property
    def share(self) -> float:
        return sum(check.share for check in self.checks) / len(self.checks)


def of_class(rows: Sequence[Row], titles: Titles) -> dict[str, LessonOfClass]:
    """Return each lesson in which somebody was graded, with its students and checks."""
    by_lesson: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_lesson[row.lesson].append(row)
    return {
        lesson: LessonOfClass(same, checks)
        for lesson, same in sorted(by_lesson.items())
        if (checks := of_lesson(same, titles.get(lesson, {})))
    }


def of_lesson(rows: Sequence[Row], titles: Mapping[str, str]) -> list[CheckOfClass]:
    worth = {name: most for row in rows for name, _, most, _ in row.checks}
    order = [name for name in titles if name in worth]
    order += [name for name in worth if name not in titles]
    checks = []
    for name in order:
        states = [status for row in rows for one, _, _, status in row.checks if one == name]
        passed = sum(status in (PASSED, BORDERLINE) for status in states)
        reason, having = commonest([r for row in rows for one, r in row.why if one == name])
        title = titles.get(name, name)
        checks.append(CheckOfClass(name, title, worth[name], passed, len(states), reason, having))
    return checks


def commonest(reasons: Sequence[str]) -> tuple[str, int]:
    """Return the most common reason and its count.

    Reasons that differ only in numbers count as the same reason.
    """
    if not reasons:
        return "", 0
    groups: dict[str, Counter[str]] = defaultdict(Counter)
    for reason in reasons:
        groups[NUMBER.sub("#", reason)][reason] += 1
    most = max(groups.values(), key=lambda texts: (sum(texts.values()), texts.most_common(1)))
    return most.most_common(1)[0][0], sum(most.values())
