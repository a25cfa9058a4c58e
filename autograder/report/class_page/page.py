"""Make the class page: a student × lesson table with reasons to look.

Sorting and filtering need a few lines of script. The page fetches nothing.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from autograder.codes import EvidenceLevel, FindingCode, GradeStatus
from autograder.report.class_page import lesson, matrix
from autograder.report.rendering import render
from autograder.settings.policy import Policy
from autograder.settings.roster import Person
from autograder.verdict import TIERS, Grade


@dataclass(frozen=True, slots=True)
class About:
    """The facts on the page that do not come from the grades."""

    people: Mapping[str, Person] = field(default_factory=dict)
    policy: Policy = field(default_factory=Policy)
    titles: lesson.Titles = field(default_factory=dict)  # titles of checks
    heading: str = "Grades"
    unowned: Sequence[str] = ()  # submissions that wait for an owner


def class_pages(rows: Sequence[Grade], about: About) -> dict[str, str]:
    """Return the class page and a page for each lesson, keyed by file name."""
    columns, lines = matrix.table(rows, about.people, about.policy)
    lessons = lesson.of_class(rows, about.titles)
    never = {column.lesson for column in columns if column.never_due}
    absent = [row for row in rows if row.status == GradeStatus.MISSING and row.lesson in never]
    unasked = sum(not row.look for row in absent)
    # Count each row once, by its evidence level or else its state, so that the counts add up.
    states = Counter(row.level or row.status for row in rows)
    states[GradeStatus.MISSING] -= unasked
    names = (*TIERS, *sorted({*states} - {*TIERS}))
    index = render(
        "class.html.j2",
        heading=about.heading,
        unowned=about.unowned,
        graded=sum(row.score is not None for row in rows),
        columns=columns,
        lines=lines,
        states=[(state, states[state]) for state in names if states[state] > 0],
        unasked=unasked,
        reruns=reruns(rows),
        lessons=lessons,
    )
    pages = {own.path: lesson.page(own, about.people, about.heading) for own in lessons}
    return {"index.html": index, **pages}


def reruns(rows: Sequence[Grade]) -> tuple[int, int, int] | None:
    """Count the submissions that were reproduced, that differed, and that were never run again."""
    looks = [{note.code for note in row.look} for row in rows if row.level]
    same = sum(row.level == EvidenceLevel.REPRODUCED for row in rows)
    unlike = sum(FindingCode.RERUN_FEWER_POINTS in codes for codes in looks)
    return (same, unlike, len(looks) - same - unlike) if same or unlike else None
