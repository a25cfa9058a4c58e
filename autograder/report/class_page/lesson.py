"""Make a page for each lesson: students × checks, and how many students passed each check."""

from collections.abc import Iterable, Mapping, Sequence
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

    @property
    def share(self) -> float:
        return self.passed / max(self.judged, 1)


@dataclass(frozen=True, slots=True)
class LessonOfClass:
    """A lesson in which somebody was graded."""

    title: str
    path: str  # of its page, relative to the class page
    rows: Sequence[Grade]
    checks: Sequence[CheckOfClass]  # in the rubric's order
    summary: str  # the mean and the median of the graded submissions

    @property
    def share(self) -> float:
        """Return the mean share of students who passed a check."""
        return mean(check.share for check in self.checks)


def of_class(rows: Sequence[Grade], titles: Titles) -> list[LessonOfClass]:
    """Return each lesson in which somebody was graded, with its students and checks."""
    lessons = []
    for lesson, own in sorted(grouped((row.lesson, row) for row in rows).items()):
        if checks := checks_of(own, titles.get(lesson, {})):
            title, path = f"{lesson} {own[0].title}", f"{LESSONS}/{file_name(lesson)}.html"
            lessons.append(LessonOfClass(title, path, own, checks, summary(own)))
    return lessons


def checks_of(rows: Iterable[Grade], titles: Mapping[str, str]) -> list[CheckOfClass]:
    by_id = grouped((check.id, check) for row in rows for check in row.checks)
    order = [*titles, *by_id]
    checks = []
    for name in sorted(by_id, key=order.index):
        states = [check.status for check in by_id[name] if check.status != WAITS]
        passed = sum(status in (PASSED, BORDERLINE) for status in states)
        worth = by_id[name][-1].points
        checks.append(CheckOfClass(name, titles.get(name, name), worth, passed, len(states)))
    return checks


def summary(rows: Sequence[Grade]) -> str:
    scores = [row.score for row in rows if row.score is not None]
    if not scores:
        return ""
    average, middle = round(mean(scores), 2), round(median(scores), 2)
    most = max(row.max_score for row in rows)
    return f"mean {points(average)}, median {points(middle)} of {points(most)}"


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
    rank = min((note.code.rank for note in row.look), default=NO_RANK)
    return rank, -1.0 if row.score is None else row.score, row.student
