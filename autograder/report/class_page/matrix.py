"""Make the table of students × lessons. Students who need attention come first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from autograder.codes import GradeStatus
from autograder.grouping import grouped
from autograder.report.signs import before_rounding, full_name, points
from autograder.report.student.missing import due_time, points_lost
from autograder.settings.policy import Policy
from autograder.settings.roster import Person
from autograder.verdict import GRADER_ERROR, TIERS, Grade

OTHER = "(other)"  # the column for work of no lesson; a lesson cannot have this name
WITHOUT_POINTS = {GradeStatus.EXCUSED: ("EX", "excused"), GRADER_ERROR: ("error", "error")}


@dataclass(frozen=True, slots=True)
class Cell:
    """One student's lesson: its contents, its appearance, and its sort key."""

    text: str = ""
    kind: str = "none"
    key: float = -3.0
    look: bool = False
    later: str = ""  # the student's own due time
    most: float = 0.0  # the points that a missing lesson loses
    changed: str = ""  # why the points differ from the sum of the checks
    exact: str = ""  # the points before rounding


@dataclass(frozen=True, slots=True)
class Column:
    lesson: str
    title: str
    due: str = ""  # ISO time; empty: none
    never_due: bool = False  # other lessons have a due time, and this one has none


@dataclass(frozen=True, slots=True)
class ClassLine:
    student: str
    name: str
    page: str
    has_programs: bool  # whether there is a page about the student's programs
    cells: Sequence[Cell]
    score: float
    most: float
    tier: str
    reasons: Sequence[str]  # most severe first
    rank: int  # severity of the first reason


def columns(rows: Sequence[Grade], policy: Policy) -> list[Column]:
    due = policy.late.due
    titles = {row.lesson: row.title for row in rows if row.title}
    heads = [
        Column(lesson, title, due.get(lesson, ""), bool(due) and lesson not in due)
        for lesson, title in sorted(titles.items())
    ]
    return heads + [Column(OTHER, "of no lesson")] * any(not row.title for row in rows)


def column_of(row: Grade) -> str:
    return row.lesson if row.title else OTHER


def table(
    rows: Sequence[Grade], people: Mapping[str, Person], policy: Policy
) -> tuple[list[Column], list[ClassLine]]:
    """Return one line per student, sorted by the most severe reason for review, then by name."""
    heads = columns(rows, policy)
    by_student = grouped((row.student, row) for row in rows)
    lines = [line(own, people, policy, heads) for own in by_student.values()]
    return heads, sorted(lines, key=lambda line: (not line.reasons, line.rank, line.student))


def line(
    rows: Sequence[Grade], people: Mapping[str, Person], policy: Policy, heads: Sequence[Column]
) -> ClassLine:
    student = rows[0].student
    by_column = grouped((column_of(row), row) for row in rows)
    cells = [cell(by_column.get(head.lesson, []), head, policy) for head in heads]
    graded = [row for row in rows if row.score is not None]
    looks = [(reason, row.lesson) for row in rows for reason in row.look]
    looks.sort(key=lambda look: look[0].code.rank)
    by_reason = grouped((str(reason), lesson) for reason, lesson in looks)
    return ClassLine(
        student=student,
        name=full_name(student, people),
        page=rows[0].page,
        has_programs=any(row.programs for row in rows),
        cells=cells,
        score=sum(row.score or 0.0 for row in graded),
        most=sum(row.max_score for row in graded) + sum(missing.most for missing in cells),
        tier=min((row.tier for row in rows if row.level), key=TIERS.index, default=""),
        reasons=[f"{', '.join(dict.fromkeys(own))}: {why}" for why, own in by_reason.items()],
        rank=looks[0][0].code.rank if looks else 0,
    )


def cell(rows: Sequence[Grade], head: Column, policy: Policy) -> Cell:
    """Return the cell for a student's rows in a column: one, or any number in OTHER."""
    if not rows:
        return Cell()
    row, look = rows[0], any(row.look for row in rows)
    if head.lesson == OTHER:
        return Cell(row.status, "error", -1.0, look)
    if row.score is not None:
        share = row.score / row.max_score if row.max_score else 0.0
        kind = "full" if share >= 1 else "part" if share > 0 else "zero"
        changed, exact = "; ".join(row.for_instructor), before_rounding(row)
        return Cell(points(row.score), kind, row.score, look, changed=changed, exact=exact)
    if row.status == GradeStatus.MISSING:
        if head.never_due and not look:
            return Cell("·", "later", -2.5)
        due = due_time(*row.key, policy) if row.key in policy.extensions else None
        later = due.isoformat() if due else ""
        return Cell("—", "missing", -2.0, look, later, points_lost(row, policy))
    text, kind = WITHOUT_POINTS.get(row.status, (row.status, "error"))
    return Cell(text, kind, -1.0, look)
