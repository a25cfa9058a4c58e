"""The command `lessons check`: run a lesson's public checks on a student's folder."""

import json
import re
import sys
from dataclasses import astuple
from pathlib import Path

import click

from autograder.codes import Outcome
from autograder.reading.files import read_files
from autograder.settings import rubric
from cluster.jobs.horovod import provide_horovod_for
from lessons.edition.notebook_pages import checked_exercises
from lessons.folders import choose_lessons, course_root, notebook_in
from lessons.student.exercise_results import ExerciseResult, check_folder
from lessons.student.grader_misses import to_run_again
from lessons.student.lesson_folder import find_folder, in_folder, lesson_here
from lessons.student.start_page import write_again

ONE_EXERCISE = re.compile(r"(\d+)\.\d+[a-z]?")  # 3.2, typed instead of 03
CHECK = re.compile(r"^@exercise\(\"(\d+\.\d+[a-z]?)\"\)", re.M)
COLUMNS = ("exercise", "result", "what")
COLOURS = {"passed": "green", "still a gap": "yellow", "not yet": "red"}


@click.command(
    "check",
    epilog=(
        "Exit code 0: all exercises passed; 1: an exercise is missing or wrong; 2: wrong usage; "
        "128 + signal: interrupted."
    ),
)
@click.argument("lessons", metavar="[NN]...", nargs=-1)
@in_folder
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list, one object per row.")
def check_command(lessons: tuple[str, ...], inside: Path | None, as_json: bool) -> None:
    """Run the lessons' public checks on your folders. This starts no jobs and changes no lesson.

    Without a number, it checks the lesson whose folder you are in.
    """
    if inside and len(lessons) > 1:
        raise click.UsageError("--in names the folder of one lesson: check the others without it.")
    folders = {lesson: folder_of(lesson, inside) for lesson in lessons or [lesson_here(inside)]}
    rows: list[dict[str, str]] = []
    passed = [check_lesson(*one, rows if as_json else None) for one in folders.items()]
    if as_json:
        click.echo(json.dumps(rows, indent=1, ensure_ascii=False))
    sys.exit(0 if all(passed) else 1)


def folder_of(lesson: str, inside: Path | None) -> Path:
    if one := ONE_EXERCISE.fullmatch(lesson):
        command = f"lessons check {one[1].zfill(2)}" + (f" --in {inside}" if inside else "")
        raise click.UsageError(
            f"{lesson} is an exercise. Only whole lessons can be checked. Type: {command}"
        )
    return find_folder(lesson, inside)


def check_lesson(lesson: str, folder: Path, rows: list[dict[str, str]] | None) -> bool:
    """Show the results or add them to `rows`, and return whether all exercises passed."""
    quiet = rows is not None
    if folder != Path.cwd():
        click.echo(f"Checking {folder}", err=quiet)
    provide_horovod_for(folder.glob("*.py"))
    results, faults = check_folder(folder, exercises_of_course(lesson))
    for fault in faults:
        click.echo(fault, err=quiet)
    if rows is not None:
        rows += [dict(zip(COLUMNS, astuple(result), strict=True)) for result in results]
    else:
        show(results, folder.name)
    for sentence in noisy_runs(lesson, folder):
        click.echo(sentence, err=quiet)
    write_again(folder)
    passed = sum(result.status == "passed" for result in results)
    click.echo(f"{passed} of {len(results)} exercises passed", err=quiet)
    return passed == len(results) and not faults


def noisy_runs(lesson: str, folder: Path) -> list[str]:
    """Return a sentence for each output in the folder whose job must be run again."""
    file = rubric.FOLDER / f"{lesson.split('_')[0].zfill(2)}.yaml"
    if not file.exists():
        return []
    runs = read_files(sorted(folder.glob("*.out")))
    ended = [run for run in runs if run.outcome == Outcome.COMPLETED]
    return list(to_run_again(rubric.load_rubric(file), ended))


def exercises_of_course(number: str) -> set[str]:
    """Return the exercises for which the course has checks.

    On a laptop, students may work in the course's own notebook, so the checks' files are read too.
    """
    import nbformat

    lessons = course_root() / "lessons"
    module = f"toolkit/checks/lesson_{number.split('_')[0].zfill(2)}"
    files = [*lessons.glob(f"{module}.py"), *lessons.glob(f"{module}/*.py")]
    exercises = {name for file in files for name in CHECK.findall(file.read_text("utf-8"))}
    try:
        [folder] = choose_lessons(lessons, [number]).values()
        return exercises | checked_exercises(nbformat.read(notebook_in(folder), as_version=4))
    except (click.UsageError, OSError, ValueError):
        return exercises


def show(results: list[ExerciseResult], title: str) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(*COLUMNS, title=title, title_justify="left")
    for result in results:
        style = f"[{COLOURS[result.status]}]{result.status}[/]"
        table.add_row(result.exercise, style, result.said.replace("[", r"\["))
    Console(width=None if sys.stdout.isatty() else 100).print(table)
