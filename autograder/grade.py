"""`autograder grade`: a folder of submissions in, grades and reports out."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path

import click

from autograder import accounting, calibrate, class_run, collect, policy, roster, rubric
from autograder.harmless import printable
from autograder.mark import Settings
from autograder.roster import Person
from autograder.rows import Row, shared_runs
from autograder.strict_yaml import SettingsError
from autograder.verdict import GRADER_ERROR, NO_LESSON

FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
FOLDER = click.Path(path_type=Path, file_okay=False)


@click.command()
@click.argument("submissions", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--out", type=FOLDER, help="Folder for pages and tables.")
@click.option(
    "--profile",
    type=click.Choice(["smoke", "full"]),
    default="full",
    show_default=True,
    help="Which thresholds: smoke for 2 CPU cores, full for GPU nodes.",
)
@click.option("--lesson", help="The lesson of files that lie in no lesson's folder, like 02.")
@click.option("--student", help="The student's name when files or one folder are graded.")
@click.option("--rubrics", type=FOLDER, default=rubric.FOLDER, help="Folder of rubrics NN.yaml.")
@click.option(
    "--expected",
    type=FOLDER,
    help="Folder of expected answers NN.yaml. Default: expected/ in that of the rubrics.",
)
@click.option("--calibration", type=FILE, help="What `autograder calibrate` wrote for the site.")
@click.option("--sacct", type=FILE, help="The scheduler's accounting, taken by you.")
@click.option("--roster", "roster_file", type=FILE, help="CSV: student, name, email, ids.")
@click.option("--policy", "policy_file", type=FILE, help="YAML: due times, late days, drops.")
@click.option("--extensions", type=FILE, help="CSV: student, lesson, days, reason.")
@click.option("--overrides", type=FILE, help="CSV: student, lesson, check, points, reason.")
@click.option("--times", type=FILE, help="CSV: student, lesson, time of handing in.")
@click.option("--canvas", type=FILE, help="Canvas gradebook export to fill in.")
@click.option("--moodle", type=FILE, multiple=True, help="Moodle worksheet to fill in.")
@click.option("--gradescope", type=click.Path(path_type=Path), help="Write results.json here.")
@click.option("--junit", is_flag=True, help="Also one JUnit file a student.")
@click.option("--processes", type=click.IntRange(1), help="Default: all cores.")
def grade_command(
    submissions: tuple[Path, ...],
    out: Path | None,
    profile: rubric.Profile,
    lesson: str | None,
    student: str | None,
    rubrics: Path,
    expected: Path | None,
    calibration: Path | None,
    sacct: Path | None,
    roster_file: Path | None,
    policy_file: Path | None,
    extensions: Path | None,
    overrides: Path | None,
    times: Path | None,
    canvas: Path | None,
    moodle: tuple[Path, ...],
    gradescope: Path | None,
    junit: bool,
    processes: int | None,
) -> None:
    """Grade SUBMISSIONS: a folder <student>/<lesson>/…, archives, or bare output files.

    Exit code 0: graded; 1: graded, somebody should look; 2: usage or rubric; 3: grader error.
    """
    people = roster.read_roster(roster_file)
    rules = policy.read_policy(policy_file, extensions, overrides, times)
    settings = load_settings(rubrics, expected, profile, calibration, sacct)
    policy.check_names(rules, settings.rubrics)
    settings = replace(
        settings,
        policy=rules,
        logins={p.student: p.login for p in people.values() if p.login},
        names={p.student: p.full_name for p in people.values() if p.full_name},
        junit=junit,
        gradescope=gradescope,
    )
    students = collect.find_students(submissions, student, lesson)
    if not students:
        raise click.UsageError("no submissions found: expected folders <student>/<lesson>/…")
    if gradescope and len(students) > 1:
        raise click.UsageError("--gradescope writes the result of one student; give one submission")
    with progress(len(students)) as tick:
        rows = class_run.grade_class(students, settings, out, processes or cores(), tick)
    rows = with_class_findings(rows, people, settings)
    from autograder.report import tables, terminal

    if out is not None:
        tables.write_all(rows, out, profile, people, canvas, moodle)
    titles = {key: {c.id: c.title for c in r.checks} for key, r in settings.rubrics.items()}
    terminal.show(rows, out, titles, profile)
    sys.exit(exit_code(rows))


def load_settings(
    rubrics: Path,
    expected: Path | None = None,
    profile: rubric.Profile = "full",
    calibration: Path | None = None,
    sacct: Path | None = None,
) -> Settings:
    files = sorted(rubrics.glob("[0-9]*.yaml"))
    if not files:
        raise SettingsError(f"{rubrics} holds no rubric NN.yaml")
    loaded = {path.stem: rubric.load_rubric(path) for path in files}
    folder = expected or rubrics / "expected"
    answers = {name: rubric.load_expected(folder / f"{name}.yaml", r) for name, r in loaded.items()}
    known = calibrate.read_calibration(calibration)
    digest = blake2b(class_run.code_key().encode(), digest_size=16)
    read = [*files, *(folder / f.name for f in files), *filter(None, (calibration, sacct))]
    for path in read:
        digest.update(path.name.encode() + b"\0" + (path.read_bytes() if path.exists() else b""))
    digest.update(profile.encode())
    return Settings(
        rubrics=loaded,
        expected=answers,
        profile=profile,
        references=known.references,
        curves=known.curves,
        jobs=accounting.read_accounting(sacct) if sacct else None,
        key=digest.hexdigest(),
    )


def with_class_findings(
    rows: Sequence[Row], people: dict[str, Person], settings: Settings
) -> list[Row]:
    """What only shows when all are seen: runs handed in twice, and who handed in nothing."""
    shared = shared_runs(rows)
    found = [
        replace(row, look=(*row.look, shared[row.student, row.lesson]))
        if (row.student, row.lesson) in shared
        else row
        for row in rows
    ]
    there = {(row.student, row.lesson): row for row in rows}
    lessons = sorted({row.lesson for row in rows if row.lesson in settings.rubrics})
    for person in people:
        empty = there.get((printable(person), NO_LESSON))
        if empty and lessons:
            found.remove(empty)  # said with each lesson instead
        for lesson in lessons:
            if (printable(person), lesson) not in there:
                row = missing(person, lesson, settings)
                if empty and row.status == "missing":
                    row = replace(row, look=empty.look, page=empty.page)
                found.append(row)
    return sorted(found, key=lambda row: (row.student, row.lesson))


def missing(student: str, lesson: str, settings: Settings) -> Row:
    """Nothing was handed in. Whether that is a zero is the instructor's to say (an override)."""
    known = settings.rubrics[lesson]
    row = Row(
        student=printable(student),
        lesson=lesson,
        title=known.title,
        status="missing",
        score=None,
        raw_score=None,
        max_score=known.points,
        tier="",
        look=(),
        checks=(),
        page="",
    )
    for change in settings.policy.overrides.get((student, lesson), ()):
        if change.check:
            continue
        status = "excused" if change.points is None else "graded"
        text = f"{status} by the instructor: {change.reason}"
        row = replace(row, status=status, score=change.points, adjustments=(text,))
    return row


def exit_code(rows: Sequence[Row]) -> int:
    if any(row.status == GRADER_ERROR for row in rows):
        return 3
    return 1 if any(row.look for row in rows) else 0


def cores() -> int:
    """Of the job or container, where the system tells; not of the whole machine."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def progress(total: int) -> Iterator[Callable[[int], None]]:
    """A bar with rate and time left on a terminal; nothing for a few students."""
    if total < 20 or not sys.stderr.isatty():
        yield lambda count: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, Task, TextColumn
    from rich.progress import TimeRemainingColumn as TimeLeft
    from rich.text import Text

    class RateColumn(TextColumn):
        def __init__(self) -> None:
            super().__init__("")

        def render(self, task: Task) -> Text:
            return Text(f"{task.speed or 0:.0f}/s")

    columns = (
        TextColumn("grading"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("students"),
        RateColumn(),
        TimeLeft(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("grading", total=total)
        yield lambda count: bar.advance(task, count)
