"""`autograder explain STUDENT LESSON`: show everything behind one grade on the terminal."""

import difflib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from autograder.classroom.rows import Row
from autograder.codes import GradeStatus
from autograder.commands.options import FOLDER
from autograder.records import Where
from autograder.report.back.records import RECORDS, TABLE, read_record, read_rows, record_file
from autograder.report.programs import as_line
from autograder.report.signs import SIGNS, points
from autograder.safe_text import file_name, printable
from autograder.settings.claims import NAMES, asked_for, plain
from autograder.submissions.lesson_names import lesson_among, lesson_of
from autograder.verdict import Check, Finding, Grade, Part, RunSummary
from autograder.wording import sentence


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
    table = [] if is_shard else read_rows(grades)
    student = as_graded(grades, table, student)
    record = read_record(grades, page_of(student)) if has_record(grades, student) else ()
    rows = [row for row in table if row.student == printable(student)]
    if not record and not rows:
        raise click.ClickException(
            f"{grades} holds no record of {student!r}. {others(table, student)}"
        )
    there = {*(grade.lesson for grade in record), *(row.lesson for row in rows)}
    number = lesson_among(lesson, there) or lesson_of(lesson.zfill(2)) or lesson
    empty = [grade for grade in record if grade.status == GradeStatus.MISSING]
    submitted = [grade for grade in record if grade.status != GradeStatus.MISSING]
    graded = [grade for grade in submitted if grade.lesson == number]
    for grade in graded:
        show(grade)
        # Some reasons to look appear only when the whole class is compared.
        for reason in (reason for row in rows if row.lesson == number for reason in row.look):
            if reason not in grade.look:
                click.echo(f"\nFor the instructor, from the whole class: {reason}")
    if graded:
        return
    # An override also counts without a submission, and unclear work may be for this lesson.
    overridden = [
        row for row in rows if row.lesson == number and (row.adjustments or row.unused_overrides)
    ]
    unclear = [grade for grade in submitted if grade.lesson == "?"]
    unread = "; ".join(
        finding.found
        for grade in empty
        if grade.lesson == number or not submitted
        for finding in grade.findings
    )
    if not overridden and not unclear:
        what = ", ".join(grade.lesson for grade in submitted)
        what = f"{what}, not {lesson}" if submitted else "nothing"
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


def others(table: Sequence[Row], student: str) -> str:
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


def say(text: str, style: str = "", indent: int = 0) -> None:
    click.secho(" " * indent + text, bold=style == "bold", dim=style == "dim")


def show(grade: Grade) -> None:
    say(f"{grade.student}, lesson {grade.lesson} {grade.title}", "bold")
    worth = f"{points(grade.score)} of {points(grade.max_score)} points"
    say(f"{worth}, {grade.status}, profile {grade.profile}")
    if grade.tier_reason:  # empty if nothing was examined
        say(f"evidence: {grade.tier}: {grade.tier_reason}")
    before = "" if grade.raw_score is None else f" ({points(grade.raw_score)} points before)"
    if grade.adjustments:
        say(f"adjusted: {'; '.join(grade.adjustments)}{before}")
    for line in grade.unused_overrides:
        say(f"override: {line}")
    for check in grade.checks:
        show_check(check)
    say_heading("Findings", grade.findings)
    for finding in grade.findings:
        say(f"{'look: ' if finding.look else ''}{finding.title}", indent=2)
        say(f"expected: {finding.expected}; found: {finding.found}", "dim", 4)
        show_source(finding)
    say_heading("Runs", grade.runs)
    for run in grade.runs:
        show_run(run)
    say_heading("Programs", grade.programs)
    for program in grade.programs:
        say(f"{'look: ' if program.look else ''}{program.file}: {program.said}", indent=2)
        for changed in program.lines:
            say(as_line(changed), "dim", 4)


def say_heading(text: str, items: Sequence[object]) -> None:
    if items:
        say(f"\n{text}", "bold")


def show_check(check: Check) -> None:
    worth = f"{points(check.score)}/{points(check.points)}"
    hidden = ", hidden from the student" if check.hidden else ""
    title = f"{check.id}: {check.title} ({check.status}{hidden})"
    say(f"\n{SIGNS.get(check.status, '!')} {worth} {title}", "bold")
    for part in check.parts:
        say(f"{SIGNS.get(part.status, '!')} {part.found}", indent=2)
        say(f"asked: {part.expected}; credit {part.credit:.3g}", "dim", 4)
        show_source(part)


def show_source(item: Part | Finding) -> None:
    if item.where:
        say(f"from: {places(item.where)}", "dim", 4)
    if item.try_:
        say(f"try: {sentence(item.try_)}", "dim", 4)


def show_run(run: RunSummary) -> None:
    used = "counts" if run.counted else "not used"
    files = ", ".join(run.files)
    say(f"{run.name}: {run.outcome}, {used}, job {run.job_id or '-'}, {files}", indent=2)
    measures = {"epoch time, s": run.epoch_s, "samples/s": run.throughput, "speedup": run.speedup}
    for label, value in measures.items():
        if value:
            say(f"{label}: {value.value:.6g} [{value.low:.6g}, {value.high:.6g}]", "dim", 4)
    for problem in run.problems:
        say(f"{problem.title}: {problem.found} ({places(problem.where)})", "dim", 4)


def places(where: Iterable[Where]) -> str:
    return ", ".join(f"{w.file}:{w.line}" if w.line else w.file for w in where)
