"""Make the class page: a student × lesson table with reasons to look. Each lesson has a page, too.

Students who need attention come first. Sorting and filtering need a few lines of script. The pages
fetch nothing.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import mean, median

from autograder.classroom.class_settings import ClassSettings
from autograder.codes import EvidenceLevel, FindingCode, GradeStatus
from autograder.grouping import grouped
from autograder.report.rendering import (
    Titles,
    before_rounding,
    full_name,
    points,
    render,
    standing_of,
)
from autograder.report.student.page import points_lost
from autograder.safe_text import file_name
from autograder.settings.policy import Policy
from autograder.settings.roster import Person
from autograder.verdict import BORDERLINE, GRADER_ERROR, PASSED, TIERS, WAITS, WORST_FIRST, Grade


def class_pages(
    rows: Sequence[Grade], people: Mapping[str, Person], settings: ClassSettings
) -> dict[str, str]:
    """Return the class page and a page for each lesson, keyed by file name."""
    columns, lines = table(rows, people, settings.policy)
    lessons = of_class(rows, settings.titles)
    never = {column.lesson for column in columns if column.never_due}
    absent = [row for row in rows if row.status == GradeStatus.MISSING and row.lesson in never]
    unasked = sum(not row.look for row in absent)
    # Count each row once, by its evidence level or else its state, so that the counts add up.
    by_you = {GradeStatus.GRADED: "graded by you alone"}  # by an override of the whole lesson
    states = Counter(row.level or by_you.get(row.status, row.status) for row in rows)
    states[GradeStatus.MISSING] -= unasked
    names = (*TIERS, *sorted({*states} - {*TIERS}))
    index = render(
        "class.html.j2",
        heading=settings.heading,
        unowned=settings.unowned,
        graded=sum(row.score is not None for row in rows),
        columns=columns,
        lines=lines,
        states=[(state, states[state]) for state in names if states[state] > 0],
        unasked=unasked,
        reruns=reruns(rows),
        lessons=lessons,
    )
    pages = {own.path: lesson_page(own, people, settings.heading) for own in lessons}
    return {"index.html": index, **pages}


def reruns(rows: Sequence[Grade]) -> tuple[int, int, int] | None:
    """Count the submissions that were reproduced, that differed, and that were never run again."""
    looks = [{note.code for note in row.look} for row in rows if row.level]
    same = sum(row.level == EvidenceLevel.REPRODUCED for row in rows)
    unlike = sum(FindingCode.RERUN_FEWER_POINTS in codes for codes in looks)
    return (same, unlike, len(looks) - same - unlike) if same or unlike else None


LESSONS = "lessons"  # the folder of these pages


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


def lesson_page(lesson: LessonOfClass, people: Mapping[str, Person], heading: str) -> str:
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
    rank = min((note.code.rank for note in row.look), default=len(FindingCode))
    return rank, -1.0 if row.score is None else row.score, row.student


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
    exact: str = ""  # the points before rounding, and those that wait


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


def table(
    rows: Sequence[Grade], people: Mapping[str, Person], policy: Policy
) -> tuple[list[Column], list[ClassLine]]:
    """Return one line per student, sorted by the most severe reason for review, then by name."""
    due = policy.late.due
    titles = {row.lesson: row.title for row in rows if row.title}
    heads = [
        Column(lesson, title, due.get(lesson, ""), bool(due) and lesson not in due)
        for lesson, title in sorted(titles.items())
    ]
    heads += [Column(OTHER, "of no lesson")] * any(not row.title for row in rows)
    by_student = grouped((row.student, row) for row in rows)
    lines = [line(own, people, policy, heads) for own in by_student.values()]
    return heads, sorted(lines, key=lambda line: (not line.reasons, line.rank, line.student))


def line(
    rows: Sequence[Grade], people: Mapping[str, Person], policy: Policy, heads: Sequence[Column]
) -> ClassLine:
    student = rows[0].student
    by_column = grouped((row.lesson if row.title else OTHER, row) for row in rows)
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
        changed = "; ".join(row.for_instructor)
        exact = "; ".join(filter(None, (before_rounding(row), standing_of(row))))
        return Cell(points(row.score), kind, row.score, look, changed=changed, exact=exact)
    if row.status == GradeStatus.MISSING:
        if head.never_due and not look:
            return Cell("·", "later", -2.5)
        due = policy.due(*row.key) if row.key in policy.extensions else None
        later = due.isoformat() if due else ""
        return Cell("—", "missing", -2.0, look, later, points_lost(row, policy))
    text, kind = WITHOUT_POINTS.get(row.status, (row.status, "error"))
    return Cell(text, kind, -1.0, look)
