"""`autograder explain STUDENT LESSON`: show everything behind one grade on the terminal."""

import difflib
import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import click

from autograder.classroom.rows import Row
from autograder.codes import GradeStatus
from autograder.commands.options import FOLDER
from autograder.report.back.records import RECORDS, TABLE, read_class, read_record, record_file
from autograder.report.rendering import render
from autograder.report.signs import points
from autograder.safe_text import file_name, printable
from autograder.settings.claims import NAMES, asked_for, plain
from autograder.submissions.lesson_names import lesson_among, lesson_of
from autograder.verdict import Grade


@click.command()
@click.argument("student")
@click.argument("lesson")
@click.option(
    "--grades",
    type=FOLDER,
    default=Path("grades"),
    show_default=True,
    help="The folder that `autograder grade --out` wrote.",
)
def explain_command(student: str, lesson: str, grades: Path) -> None:
    """Show every measure with its interval, threshold, evidence and the lines it came from.

    STUDENT is called as in the grades, or by any name, address, account or number that the roster
    has. LESSON is its number or its folder's name.
    """
    records = grades / RECORDS
    is_shard = records.exists() and not (grades / TABLE).exists()  # not merged into a class yet
    table = [] if is_shard else read_class(grades).rows
    student = as_graded(grades, table, student)
    record = read_record(grades, page_of(student)) if has_record(grades, student) else ()
    rows = [row for row in table if row.student == printable(student)]
    if not record and not rows:
        raise click.ClickException(
            f"{grades} holds no record of {student!r}. {similar(table, student)}"
        )
    there = {*(grade.lesson for grade in record), *(row.lesson for row in rows)}
    number = lesson_among(lesson, there) or lesson_of(lesson.zfill(2)) or lesson
    rows = [row for row in rows if row.lesson == number]
    submitted = [grade for grade in record if grade.status != GradeStatus.MISSING]
    if graded := [grade for grade in submitted if grade.lesson == number]:
        for grade in graded:
            show(grade)
            # Some reasons to look appear only when the whole class is compared.
            for reason in (one for row in rows for one in row.look if one not in grade.look):
                click.echo(f"\nFor the instructor, from the whole class: {reason}")
        return
    # An override also counts without a submission, and unclear work may be for this lesson.
    overridden = [row for row in rows if row.adjustments or row.unused_overrides]
    unclear = [grade for grade in submitted if grade.lesson == "?"]
    unread = "; ".join(
        finding.found
        for grade in record
        if grade.status == GradeStatus.MISSING and (grade.lesson == number or not submitted)
        for finding in grade.findings
    )
    if not overridden and not unclear:
        others = ", ".join(grade.lesson for grade in submitted)
        what = f"{others}, not {lesson}" if others else "nothing"
        if unread:
            what = f"nothing for lesson {number} that can be graded: {unread}"
        raise click.ClickException(f"{student} submitted {what}")
    for row in overridden:
        show_row(row, f"nothing that can be graded: {unread}" if unread else "nothing")
    for grade in unclear:
        click.echo(f"{student} submitted nothing that is clearly of lesson {number}, but this:")
        show(grade)


def page_of(student: str) -> str:
    return f"{file_name(student)}.html"


def has_record(grades: Path, student: str) -> bool:
    return record_file(grades, page_of(student)).exists()


def as_graded(grades: Path, table: Sequence[Row], student: str) -> str:
    """Return the student's name as it is written in the grades.

    `student` may be that name or another identifier, such as an address or account.
    """
    there = {row.student for row in table}
    if printable(student) in there or has_record(grades, student):
        return student
    try:
        names = json.loads((grades / NAMES).read_bytes())
    except (OSError, ValueError):
        names = {}
    names |= {name: [*names.get(name, ()), name.casefold(), plain(name)] for name in there}
    candidates = asked_for(names, student)
    if len(candidates) > 1:
        raise click.ClickException(
            f"{student!r} may be {', '.join(sorted(candidates)[:5])}: "
            "use the name as it is in the grades"
        )
    return candidates[0] if candidates else student


def similar(table: Sequence[Row], student: str) -> str:
    """Return a message with the most similar names or, if there are none, the first few names."""
    names = sorted({row.student for row in table})
    spelt = {name.casefold(): name for name in names}
    near = [spelt[n] for n in difflib.get_close_matches(student.casefold(), spelt, 3)]
    if near:
        return f"Did you mean {' or '.join(near)}?"
    return f"There are: {', '.join(names[:8])}" + (" …" if len(names) > 8 else "")


def show_row(row: Row, submitted: str) -> None:
    """Print the row of a lesson for which nothing was submitted that can be graded."""
    click.echo(f"{row.student}, lesson {row.lesson} {row.title}")
    worth = f"{points(row.score)} of {points(row.max_score)} points"
    click.echo(f"{worth}, {row.status}; submitted for this lesson: {submitted}")
    for line in row.adjustments:
        click.echo(f"adjusted: {line}")
    for line in row.unused_overrides:
        click.echo(f"override: {line}")


def show(grade: Grade) -> None:
    bold, dim = partial(click.style, bold=True), partial(click.style, dim=True)
    click.echo(render("explain.txt.j2", grade=grade, bold=bold, dim=dim), nl=False)
