"""`autograder grade`: a folder of submissions in, grades and reports out."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import NoReturn

import click
from click.core import ParameterSource

from autograder.classroom import kept
from autograder.classroom.class_settings import ClassSettings
from autograder.classroom.one_grader import one_part, whole_class
from autograder.classroom.pool import Work, grade_class
from autograder.classroom.shards import Shard, grade_shard
from autograder.commands.finish import finish_class, finish_shard
from autograder.commands.load import class_of, fingerprints, load, pseudonyms
from autograder.commands.options import FOLDER, ClassOptions, class_options, shard_option
from autograder.commands.own import grade_self
from autograder.cpus import usable_cpus
from autograder.report import student_files
from autograder.settings import roster
from autograder.settings.roster import Person
from autograder.submissions.students import NoSubmissionsError, Student, check_there

OURS = {*student_files.FOLDERS, kept.STATES, kept.PROGRAMS}  # what we write into --out


@click.command()
@click.argument("submissions", nargs=-1, type=click.Path(path_type=Path))
@click.option("--self", "yourself", is_flag=True, help="Your own folder, before you hand it in.")
@click.option("--out", type=FOLDER, help="Folder for pages and tables.")
@click.option("--lesson", help="The lesson of files that lie in no lesson's folder, like 02.")
@click.option("--student", help="The student's name when files or one folder are graded.")
@class_options
@click.option("--gradescope", type=click.Path(path_type=Path), help="Write results.json here.")
@click.option(
    "--gradescope-leaderboard", is_flag=True, help="Speeds into results.json's leaderboard."
)
@click.option("--processes", type=click.IntRange(1), help="Default: all cores.")
@shard_option
@click.pass_context
def grade_command(
    context: click.Context,
    submissions: tuple[Path, ...],
    yourself: bool,
    out: Path | None,
    lesson: str | None,
    student: str | None,
    options: ClassOptions,
    gradescope: Path | None,
    gradescope_leaderboard: bool,
    processes: int | None,
    shard: Shard | None,
) -> None:
    """Grade SUBMISSIONS: a folder <student>/<lesson>/…, archives, or bare output files.

    With --self (default: this folder): what your outputs decide already, what is missing, and what
    only your instructor can say. Nothing is written.

    Exit code 0: graded; 1: graded, somebody should look; 2: usage or rubric; 3: grader error.
    """
    if yourself and (out or gradescope or shard):
        raise click.UsageError("--self writes nothing: leave out --out, --gradescope and --shard")
    if yourself:
        given = context.get_parameter_source("profile") is not ParameterSource.DEFAULT
        sys.exit(grade_self(submissions, lesson, options, options.profile if given else None))
    if not submissions:
        raise click.UsageError("name the folder of submissions, or add --self for your own folder")
    if shard and (out is None or gradescope):
        raise click.UsageError("--shard needs --out, and cannot go with --gradescope")
    if out is None and (options.canvas or options.moodle or options.leaderboard):
        raise click.UsageError(
            "--canvas, --moodle and --leaderboard write into the folder of --out: give one"
        )
    try:
        check_there(submissions)
    except NoSubmissionsError as error:
        raise click.UsageError(str(error)) from None
    if out is not None:
        check_apart(submissions, out)
    settings, people = load(options)
    with ExitStack() as unpacked:  # of what was downloaded as one zip
        try:
            students = class_of(submissions, student, lesson, options, people, unpacked)
        except NoSubmissionsError as error:
            raise click.UsageError(str(error)) from None
        grade_all(students, settings, people, options, out, gradescope, gradescope_leaderboard,
                  processes, shard)  # fmt: skip


def grade_all(
    students: Sequence[Student],
    settings: ClassSettings,
    people: dict[str, Person],
    options: ClassOptions,
    out: Path | None,
    gradescope: Path | None,
    gradescope_leaderboard: bool,
    processes: int | None,
    shard: Shard | None,
) -> NoReturn:
    if not students:
        raise click.UsageError("no submissions found: expected folders <student>/<lesson>/…")
    if gradescope and len(students) > 1:
        raise click.UsageError("--gradescope writes the result of one student; give one submission")
    # Of all that every shard sees: a part knows the others' students.
    everybody = {one.name for one in students}
    roster.check_students(settings.policy, everybody, people)
    names = pseudonyms(options, people, everybody)
    publish = student_files.publisher(
        settings, out, options.junit, gradescope, gradescope_leaderboard
    )
    work = Work(settings, out, publish, reuse=gradescope is None)
    processes = processes or len(usable_cpus())
    if shard is not None and out is not None:
        keys = fingerprints(options)
        with one_part(out, shard, keys), progress(len(shard.students(students))) as tick:
            done = grade_shard(shard, students, work, keys, processes, tick)
        finish_shard(shard, done, len(students), out)
    with whole_class(out) if out else nullcontext():
        with progress(len(students)) as tick:
            done = grade_class(students, work, processes, tick)
        finish_class(done, people, settings, options, out, names)


def check_apart(submissions: Sequence[Path], out: Path) -> None:
    """What we write must not be what we read the next time."""
    home = out.resolve()
    for given in submissions:
        inner = given / "submitted"
        place = (inner if os.path.isdir(inner) else given).resolve()
        ours = place.relative_to(home).parts[:1] if place.is_relative_to(home) else ()
        if (os.path.isdir(place) and home.is_relative_to(place)) or {*ours} & OURS:
            raise click.UsageError(
                f"--out {out} lies among the submissions of {given}: choose a folder beside them"
            )


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
