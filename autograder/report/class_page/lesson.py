"""Make a page for each lesson: students × checks, to see one question across all students.

It counts the students who passed each check, and finds the common reasons why others did not.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import mean, median
from urllib.parse import quote

from markupsafe import Markup, escape

from autograder.classroom.rows import Row
from autograder.report import pictures
from autograder.report.html import coded, environment
from autograder.report.signs import SIGNS, points
from autograder.safe_text import file_name, readable_name
from autograder.settings.roster import Person
from autograder.verdict import BORDERLINE, FAILED, NOT_MEASURED, PARTIAL, PASSED

LESSONS = "lessons"  # the folder of these pages
WORST_FIRST = (FAILED, NOT_MEASURED, PARTIAL, BORDERLINE, PASSED)
MOST_REASONS = 3  # per student
NO_RANK = 99
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
    """A lesson in which somebody was graded."""

    rows: Sequence[Row]
    checks: Sequence[CheckOfClass]  # in the rubric's order

    @property
    def title(self) -> str:
        return f"{self.rows[0].lesson} {self.rows[0].title}"

    @property
    def path(self) -> str:
        """Return the page's place, relative to the class page."""
        return f"{LESSONS}/{file_name(self.rows[0].lesson)}.html"

    @property
    def share(self) -> float:
        return sum(check.share for check in self.checks) / len(self.checks)

    @property
    def scores(self) -> list[float]:
        return [row.score for row in self.rows if row.score is not None]

    @property
    def most(self) -> float:
        return max(row.max_score for row in self.rows)

    @property
    def summary(self) -> str:
        """Return the mean and the median of the graded submissions."""
        if not self.scores:
            return ""
        average, middle = round(mean(self.scores), 2), round(median(self.scores), 2)
        return f"mean {points(average)}, median {points(middle)} of {points(self.most)}"

    @property
    def distribution(self) -> Markup:
        return pictures.histogram(self.scores, self.most, "points") if self.scores else Markup()


def of_class(rows: Sequence[Row], titles: Titles) -> list[LessonOfClass]:
    """Return each lesson in which somebody was graded, with its students and checks."""
    by_lesson: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_lesson[row.lesson].append(row)
    return [
        LessonOfClass(same, checks)
        for lesson, same in sorted(by_lesson.items())
        if (checks := of_lesson(same, titles.get(lesson, {})))
    ]


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


# --- the page ---------------------------------------------------------------------------------


def page(lesson: LessonOfClass, people: Mapping[str, Person], heading: str) -> str:
    """Return a lesson's page, with students who need attention or lost the most points first."""
    ids = [check.id for check in lesson.checks]
    lines = [line(row, ids, people) for row in sorted(lesson.rows, key=by_severity)]
    return (
        environment()
        .get_template("lesson.html.j2")
        .render(
            heading=heading,
            lesson=lesson,
            pictures=[*filter(None, (lesson.distribution, speedups(lesson.rows)))],
            lines=Markup("\n").join(lines),
        )
    )


def by_severity(row: Row) -> tuple[int, float, str]:
    rank = min((reason.code.rank for reason in row.look), default=NO_RANK)
    return rank, -1.0 if row.score is None else row.score, row.student


def line(row: Row, checks: Sequence[str], people: Mapping[str, Person]) -> Markup:
    person = people.get(row.student)
    name = escape(readable_name((person.full_name if person else "") or row.student))
    link = f'<a href="../review.html#{quote(row.page)}"><bdi>{name}</bdi></a>' if row.page else name
    if person and person.full_name and person.full_name != row.student:
        link += f' <span class="dim">{escape(row.student)}</span>'  # two students may have one name
    states = {id_: status for id_, _, _, status in row.checks}
    cells = "".join(cell(id_, states.get(id_, "")) for id_ in checks)
    score = points(row.score) if row.score is not None else escape(row.status)
    key = -1.0 if row.score is None else row.score
    said = [*map(str, row.look), *(f"{id_}: {reason}" for id_, reason in row.why)]
    more = f" (+{len(said) - MOST_REASONS})" if len(said) > MOST_REASONS else ""
    return Markup(
        f'<tr><th scope="row">{link}</th>'
        f'<td class="number" data-label="points" data-k="{key}">{score}</td>{cells}'
        f'<td class="told">{coded("; ".join(said[:MOST_REASONS]) + more)}</td></tr>'
    )


@cache
def cell(check: str, status: str) -> str:
    """Return a table cell that sorts by severity.

    On a phone, the cell shows the name of its check.
    """
    if status not in SIGNS:
        return '<td class="cell none" data-k="9"></td>'
    key = WORST_FIRST.index(status)  # type: ignore[arg-type]
    kind = status.replace(" ", "-")
    return (
        f'<td class="cell {kind}" data-l="{escape(check)}" data-k="{key}">'
        f'<span class="sign">{SIGNS[status]}</span></td>'
    )


def speedups(rows: Sequence[Row]) -> Markup:
    gains = [row.speedup for row in rows if row.speedup]
    return pictures.histogram(gains, round_end(gains), "speedup") if len(gains) > 1 else Markup()


def round_end(values: Sequence[float]) -> float:
    """Return the upper end of an axis that fits all values and has five round steps."""
    step = max(values) / 5
    power = 10.0 ** math.floor(math.log10(step))
    return 5 * next(n * power for n in (1, 2, 4, 5, 10) if n * power >= step * (1 - 1e-9))
