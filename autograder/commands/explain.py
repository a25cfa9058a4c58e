"""`autograder explain STUDENT LESSON`: show everything behind one grade on the terminal."""

import difflib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from autograder.commands.options import FOLDER
from autograder.errors import SettingsError
from autograder.report.signs import SIGNS, points
from autograder.safe_text import file_name, printable
from autograder.settings.claims import plain
from autograder.settings.known_as import NAMES, asked_for
from autograder.submissions.lesson_names import lesson_among, lesson_of
from autograder.wording import sentence

TABLE = "grades.json"


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
    records = grades / "records"
    if not (grades / TABLE).exists() and not records.exists():
        raise SettingsError(
            f"{grades} holds no grades: give the folder of `autograder grade --out`"
        )
    student = as_graded(grades, student)
    record = load(records / f"{file_name(student)}.json")
    rows = [row for row in table(grades) if row["student"] == printable(student)]
    if not record and not rows:
        raise click.ClickException(
            f"{grades} holds no record of {student!r}. {others(grades, student)}"
        )
    number = lesson_among(lesson, {grade["lesson"] for grade in [*record, *rows]})
    number = number or lesson_of(lesson.zfill(2)) or lesson
    empty = [grade for grade in record if grade["status"] == "missing"]
    graded = [grade for grade in record if grade["lesson"] == number and grade not in empty]
    for grade in graded:
        show(grade)
        for reason in seen_in_class(grades, grade):
            click.echo(f"\nFor the instructor, from the whole class: {reason}")
    if graded:
        return
    # An override also counts without a submission, and unclear work may be for this lesson.
    overridden = [row for row in rows if row["lesson"] == number and row["adjustments"]]
    unclear = [grade for grade in record if grade["lesson"] == "?" and grade not in empty]
    if not overridden and not unclear:
        there = [grade["lesson"] for grade in record if grade not in empty]
        seen = [finding["found"] for grade in empty for finding in grade["findings"]]
        what = ", ".join(there) + f", not {lesson}" if there else "nothing"
        if seen and not there:
            what += f" that can be graded: {'; '.join(seen)}"
        raise click.ClickException(f"{student} submitted {what}")
    for row in overridden:
        show_row(row)
    for grade in unclear:
        click.echo(f"{student} submitted nothing that is clearly of lesson {number}, but this:")
        show(grade)


def as_graded(grades: Path, student: str) -> str:
    """Return the student's name as it is written in the grades.

    `student` may be that name or another identifier, such as an address or account.
    """
    there = {row["student"] for row in table(grades)}
    if printable(student) in there or (grades / "records" / f"{file_name(student)}.json").exists():
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


def others(grades: Path, student: str) -> str:
    """Return a message with the most similar names or, if there are none, the first few names."""
    names = sorted({row["student"] for row in table(grades)})
    spelt = {name.casefold(): name for name in names}
    near = [spelt[n] for n in difflib.get_close_matches(student.casefold(), spelt, 3)]
    if near:
        return f"Did you mean {' or '.join(near)}?"
    return f"There are: {', '.join(names[:8])}" + (" …" if len(names) > 8 else "")


def table(grades: Path) -> list[dict[str, Any]]:
    return load(grades / TABLE)


def load(path: Path) -> list[dict[str, Any]]:
    """Return the grades in a file that the grader wrote, or none if it does not exist."""
    try:
        return json.loads(path.read_bytes())["grades"]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, LookupError, TypeError):
        raise SettingsError(
            f"{path} is not what `autograder grade` writes: grade again into this folder"
        ) from None


def seen_in_class(grades: Path, grade: dict[str, Any]) -> list[str]:
    """Return the reasons to look that appear only when the whole class is compared."""
    mine = (grade["student"], grade["lesson"])
    same = [row for row in table(grades) if (row["student"], row["lesson"]) == mine]
    reasons = [reason for row in same for reason in row["look"] if reason not in grade["look"]]
    return [reason["text"] + reason["details"] for reason in reasons]


def show_row(row: dict[str, Any]) -> None:
    """Print the row of a lesson for which nothing was submitted."""
    click.echo(f"{row['student']}, lesson {row['lesson']} {row['title']}")
    worth = f"{points(row['score'])} of {points(row['max_score'])} points"
    click.echo(f"{worth}, {row['status']}; nothing was submitted for this lesson")
    for line in row["adjustments"]:
        click.echo(f"adjusted: {line}")


Say = Callable[..., None]  # prints a line in a style with an indent


def show(grade: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, soft_wrap=True)

    def say(text: str, style: str = "", indent: int = 0) -> None:
        console.print(Text(" " * indent + text, style=style))

    title = f"{grade['student']}, lesson {grade['lesson']} {grade['title']}"
    score = f"{points(grade['score'])} of {points(grade['max_score'])} points"
    say(title, "bold")
    say(f"{score}, {grade['status']}, profile {grade['profile']}")
    if grade["tier_reason"]:  # empty if nothing was examined
        say(f"evidence: {grade['tier']}: {grade['tier_reason']}")
    for line in grade["adjustments"]:
        say(f"adjusted: {line} ({points(grade['raw_score'])} points before)")
    for check in grade["checks"]:
        show_check(check, say)
    show_findings(grade["findings"], say)
    show_runs(grade["runs"], say)
    show_programs(grade.get("programs", ()), say)


def show_check(check: dict[str, Any], say: Say) -> None:
    say("")
    worth = f"{points(check['score'])}/{points(check['points'])}"
    sign = SIGNS.get(check["status"], "!")
    hidden = ", hidden from the student" if check["hidden"] else ""
    say(f"{sign} {worth} {check['id']}: {check['title']} ({check['status']}{hidden})", "bold")
    for part in check["parts"]:
        say(f"{SIGNS.get(part['status'], '!')} {part['found']}", indent=2)
        say(f"asked: {part['expected']}; credit {part['credit']:.3g}", "dim", 4)
        if part["where"]:
            say(f"from: {places(part['where'])}", "dim", 4)
        if part["try_"]:
            say(f"try: {sentence(part['try_'])}", "dim", 4)


def show_findings(findings: list[dict[str, Any]], say: Say) -> None:
    if findings:
        say("")
        say("Findings", "bold")
    for finding in findings:
        flag = "look: " if finding["look"] else ""
        say(f"{flag}{finding['title']}", indent=2)
        say(f"expected: {finding['expected']}; found: {finding['found']}", "dim", 4)
        if finding["where"]:
            say(f"from: {places(finding['where'])}", "dim", 4)
        if finding["try_"]:
            say(f"try: {sentence(finding['try_'])}", "dim", 4)


def show_runs(runs: list[dict[str, Any]], say: Say) -> None:
    if runs:
        say("")
        say("Runs", "bold")
    for run in runs:
        used = "counts" if run["counted"] else "not used"
        files = ", ".join(run["files"])
        say(f"{run['name']}: {run['outcome']}, {used}, job {run['job_id'] or '-'}, {files}", "", 2)
        for label, value in (
            ("epoch time, s", run["epoch_s"]),
            ("samples/s", run["throughput"]),
            ("speedup", run["speedup"]),
        ):
            if value:
                text = f"{label}: {value['value']:.6g} [{value['low']:.6g}, {value['high']:.6g}]"
                say(text, "dim", 4)
        for problem in run["problems"]:
            where = places(problem["where"])
            say(f"{problem['title']}: {problem['found']} ({where})", "dim", 4)


def show_programs(programs: list[dict[str, Any]], say: Say) -> None:
    if programs:
        say("")
        say("Programs", "bold")
    for program in programs:
        flag = "look: " if program["look"] else ""
        say(f"{flag}{program['file']}: {program['said']}", indent=2)
        for line in program["lines"]:
            mark = "!" if line["telling"] else " "
            say(f"{mark} {line['number']:5} {line['kind']:3} {line['text']}", "dim", 4)


def places(where: list[dict[str, Any]]) -> str:
    return ", ".join(f"{w['file']}:{w['line']}" if w["line"] else w["file"] for w in where)
