"""Make the table of students × lessons. Students who need attention come first."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from autograder.classroom.rows import Row
from autograder.codes import GradeStatus
from autograder.grouping import grouped
from autograder.report.signs import check_signs, full_name, notice, points
from autograder.settings.policy import Policy
from autograder.settings.roster import Person
from autograder.verdict import GRADER_ERROR, TIERS
from autograder.wording import shown

OTHER = "(other)"  # the column for work of no lesson; a lesson cannot have this name
WORDS = 60  # characters of a reason in the filter
COMMON = 8  # reasons to look that many students have


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


@dataclass(frozen=True, slots=True)
class Column:
    lesson: str
    title: str
    due: str = ""  # ISO time; empty: none
    never_due: bool = False  # other lessons have a due time, and this one has none


@dataclass(frozen=True, slots=True)
class Line:
    student: str
    name: str
    page: str  # empty: none
    has_programs: bool  # whether there is a page about the student's programs
    cells: Sequence[Cell]
    score: float
    most: float
    tier: str
    reasons: Sequence[str]  # most severe first
    rank: int  # severity of the first reason


def columns(rows: Sequence[Row], policy: Policy) -> list[Column]:
    titles: dict[str, str] = {}
    for row in rows:
        titles[column_of(row)] = titles.get(column_of(row)) or row.title
    odd = titles.pop(OTHER, None) is not None
    due = policy.late.due
    heads = [
        Column(lesson, title, due.get(lesson, ""), bool(due) and lesson not in due)
        for lesson, title in sorted(titles.items())
    ]
    return [*heads, Column(OTHER, "of no lesson")] if odd else heads


def column_of(row: Row) -> str:
    return row.lesson if row.title else OTHER


def table(
    rows: Sequence[Row], people: Mapping[str, Person], policy: Policy
) -> tuple[list[Column], list[Line]]:
    """Return one line per student, sorted by the most severe reason for review, then by name."""
    heads = columns(rows, policy)
    by_student = grouped((row.student, row) for row in rows)
    lines = [line(theirs, people, policy, heads) for theirs in by_student.values()]
    return heads, sorted(lines, key=lambda one: (not one.reasons, one.rank, one.student))


def line(
    rows: Sequence[Row], people: Mapping[str, Person], policy: Policy, heads: Sequence[Column]
) -> Line:
    student = rows[0].student
    page = next((row.page for row in rows if row.page), "")
    by_column = grouped((column_of(row), row) for row in rows)
    cells = [cell(by_column.get(head.lesson, []), head, policy) for head in heads]
    graded = [row for row in rows if row.score is not None]
    looks = [(reason, row.lesson) for row in rows for reason in row.look]
    looks.sort(key=lambda look: look[0].code.rank)
    by_reason = grouped((str(reason), lesson) for reason, lesson in looks)
    return Line(
        student=student,
        name=full_name(student, people),
        page=page,
        has_programs=bool(page) and any(row.programs for row in rows),
        cells=cells,
        score=sum(row.score or 0.0 for row in graded),
        most=sum(row.max_score for row in graded) + sum(missing.most for missing in cells),
        tier=min((row.tier for row in rows if row.tier), key=TIERS.index, default=""),
        reasons=[
            f"{', '.join(dict.fromkeys(lessons))}: {reason}"
            for reason, lessons in by_reason.items()
        ],
        rank=looks[0][0].code.rank if looks else 0,
    )


def cell(rows: Sequence[Row], head: Column, policy: Policy) -> Cell:
    """Return the cell for a student's rows in a column.

    Only the column OTHER can have several rows.
    """
    if not rows:
        return Cell()
    row, look = rows[0], any(row.look for row in rows)
    if head.lesson == OTHER:
        return Cell(row.status, "error", -1.0, look)
    if row.score is not None:
        share = row.score / row.max_score if row.max_score else 0.0
        kind = "full" if share >= 1 else "part" if share > 0 else "zero"
        return Cell(points(row.score), kind, row.score, look, changed="; ".join(row.for_instructor))
    if row.status == GradeStatus.MISSING:
        if head.never_due and not look:
            return Cell("·", "later", -2.5)
        days, _ = policy.extensions.get(row.key, (0.0, ""))
        own_due = datetime.fromisoformat(head.due) + timedelta(days) if head.due and days else None
        later = own_due.isoformat() if own_due else ""
        return Cell("—", "missing", -2.0, look, later, row.max_score)
    if row.status == GradeStatus.EXCUSED:
        return Cell("EX", "excused", -1.0, look)
    return Cell("error" if row.status == GRADER_ERROR else row.status, "error", -1.0, look)


# --- what many have in common, and what opens on a click ----------------------------------------


def common_reasons(rows: Sequence[Row]) -> list[tuple[str, bool, int]]:
    """Return the most frequent reasons for a closer look, most severe first.

    Each reason comes with the words to filter by, whether it has more text, and its number of
    students.
    """
    by_words = grouped(
        (shortened_to_words(reason.text), (row.student, reason))
        for row in rows
        for reason in row.look
    )
    counts = Counter({words: len(dict(those)) for words, those in by_words.items()})
    common = [
        (words, any(str(reason) != words for _, reason in by_words[words]), count)
        for words, count in counts.most_common(COMMON)
    ]
    return sorted(common, key=lambda one: by_words[one[0]][-1][1].code.rank)


def shortened_to_words(text: str) -> str:
    """Return the first words of a text, as a search term for the page's filter."""
    return text if len(text) <= WORDS else text[: WORDS + 1].rpartition(" ")[0] or text[:WORDS]


def details(rows: Sequence[Row], lines: Sequence[Line]) -> list[list[list[str]]]:
    """Return everything that a line omits, as data: [lesson, points, checks, state, …] per row."""
    by_student = grouped((row.student, details_of(row)) for row in rows)
    return [by_student[line.student] for line in lines]


def details_of(row: Row) -> list[str]:
    return [
        f"{row.lesson} {row.title}".strip(),
        f"{points(row.score)} / {points(row.max_score)}",
        check_signs(row),
        row.tier or row.status,
        f"{shown(row.epoch_s)} s" if row.epoch_s else "",
        shown(row.speedup) if row.speedup else "",
        "; ".join(filter(None, ["; ".join(map(str, row.look[1:])), notice(row)])),
    ]
