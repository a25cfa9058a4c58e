"""Make a page for each lesson: students × checks, to see one question across all students."""

import math
from collections.abc import Mapping, Sequence
from functools import cache
from statistics import mean, median
from urllib.parse import quote

from markupsafe import Markup, escape

from autograder.classroom.rows import Row
from autograder.report import pictures
from autograder.report.class_page.checks import CheckOfClass
from autograder.report.html import coded, environment
from autograder.report.signs import SIGNS, points
from autograder.safe_text import file_name, readable_name
from autograder.settings.roster import Person
from autograder.verdict import BORDERLINE, FAILED, NOT_MEASURED, PARTIAL, PASSED

LESSONS = "lessons"  # the folder of these pages
WORST_FIRST = (FAILED, NOT_MEASURED, PARTIAL, BORDERLINE, PASSED)
MOST_REASONS = 3  # per student
NO_RANK = 99


def path_of(lesson: str) -> str:
    """Return the page's place, relative to the class page."""
    return f"{LESSONS}/{file_name(lesson)}.html"


def summary(rows: Sequence[Row]) -> str:
    """Return the mean and the median of a lesson's graded submissions."""
    scores = [row.score for row in rows if row.score is not None]
    if not scores:
        return ""
    most = max(row.max_score for row in rows)
    middle = f"mean {points(round(mean(scores), 2))}, median {points(round(median(scores), 2))}"
    return f"{middle} of {points(most)}"


def distribution(rows: Sequence[Row]) -> Markup:
    scores = [row.score for row in rows if row.score is not None]
    if not scores:
        return Markup()
    return pictures.histogram(scores, max(row.max_score for row in rows), "points")


def page(
    rows: Sequence[Row],
    checks: Sequence[CheckOfClass],
    people: Mapping[str, Person],
    heading: str,
) -> str:
    """Return a lesson's page, with students who need attention or lost the most points first."""
    return (
        environment()
        .get_template("lesson.html.j2")
        .render(
            heading=heading,
            title=f"{rows[0].lesson} {rows[0].title}",
            submissions=sum(row.score is not None for row in rows),
            summary=summary(rows),
            pictures=[picture for picture in (distribution(rows), speedups(rows)) if picture],
            checks=checks,
            lines=Markup("\n").join(
                line(row, [check.id for check in checks], people)
                for row in sorted(rows, key=by_severity)
            ),
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
