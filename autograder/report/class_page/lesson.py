"""Make a page for each lesson: students × checks, to see one question across all students.

It counts the students who passed each check.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import mean, median

from autograder.grouping import grouped
from autograder.report.rendering import render
from autograder.report.signs import Titles, full_name, points
from autograder.safe_text import file_name
from autograder.settings.roster import Person
from autograder.verdict import BORDERLINE, PASSED, WAITS, WORST_FIRST, Grade

LESSONS = "lessons"  # the folder of these pages
NO_RANK = 99


@dataclass(frozen=True, slots=True)
class CheckOfClass:
    id: str
    title: str
    points: float
    passed: int
    judged: int
    share: float  # of those who passed


@dataclass(frozen=True, slots=True)
class LessonOfClass:
    """A lesson in which somebody was graded."""

    title: str
    path: str  # of its page, relative to the class page
    rows: Sequence[Grade]
    checks: Sequence[CheckOfClass]  # in the rubric's order
    share: float  # the mean share of students who passed a check
    summary: str


def of_class(rows: Sequence[Grade], titles: Titles) -> list[LessonOfClass]:
    """Return each lesson in which somebody was graded, with its students and checks."""
    by_lesson = grouped((row.lesson, row) for row in rows)
    return [
        of_lesson(lesson, those, titles.get(lesson, {}))
        for lesson, those in sorted(by_lesson.items())
        if any(row.checks for row in those)
    ]


def of_lesson(lesson: str, rows: Sequence[Grade], titles: Mapping[str, str]) -> LessonOfClass:
    worth = {check.id: check.points for row in rows for check in row.checks}
    order = [name for name in titles if name in worth]
    order += [name for name in worth if name not in titles]
    checks = []
    for name in order:
        statuses = (check.status for row in rows for check in row.checks if check.id == name)
        states = [status for status in statuses if status != WAITS]
        passed = sum(status in (PASSED, BORDERLINE) for status in states)
        checks.append(
            CheckOfClass(
                id=name,
                title=titles.get(name, name),
                points=worth[name],
                passed=passed,
                judged=len(states),
                share=passed / max(len(states), 1),
            )
        )
    scores = [row.score for row in rows if row.score is not None]
    most = max(row.max_score for row in rows)
    return LessonOfClass(
        title=f"{lesson} {rows[0].title}",
        path=f"{LESSONS}/{file_name(lesson)}.html",
        rows=rows,
        checks=checks,
        share=mean(check.share for check in checks),
        summary=summary(scores, most),
    )


def summary(scores: Sequence[float], most: float) -> str:
    """Return the mean and the median of the graded submissions."""
    if not scores:
        return ""
    average, middle = round(mean(scores), 2), round(median(scores), 2)
    return f"mean {points(average)}, median {points(middle)} of {points(most)}"


# --- the page ---------------------------------------------------------------------------------


def page(lesson: LessonOfClass, people: Mapping[str, Person], heading: str) -> str:
    """Return a lesson's page, with students who need attention or lost the most points first."""
    return render(
        "lesson.html.j2",
        heading=heading,
        lesson=lesson,
        rows=sorted(lesson.rows, key=by_severity),
        full_name=partial(full_name, people=people),
        states_of=lambda row: {c.id: c.status for c in row.checks if not c.decided},
        worst_first=WORST_FIRST,
    )


def by_severity(row: Grade) -> tuple[int, float, str]:
    rank = min((reason.code.rank for reason in row.look), default=NO_RANK)
    return rank, -1.0 if row.score is None else row.score, row.student
