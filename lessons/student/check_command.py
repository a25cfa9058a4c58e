"""The command `lessons check`: run a lesson's public checks on a student's folder."""

import re
import sys
from pathlib import Path

import click

from cluster.jobs.horovod import provide_horovod_for
from lessons.edition.notebook_pages import checked_exercises
from lessons.folders import choose_lessons, course_root, notebook_in
from lessons.student.exercise_results import ExerciseResult, check_folder
from lessons.student.lesson_folder import find_folder, in_folder

ONE_EXERCISE = re.compile(r"(\d+)\.\d+[a-z]?")  # 3.2, typed instead of 03
COLOURS = {"passed": "green", "still a gap": "yellow", "not yet": "red"}


@click.command("check")
@click.argument("lesson", metavar="NN")
@in_folder
def check_command(lesson: str, inside: Path | None) -> None:
    """Run a lesson's public checks on your folder. This starts no jobs and changes no files."""
    if one := ONE_EXERCISE.fullmatch(lesson):
        command = f"lessons check {one[1].zfill(2)}" + (f" --in {inside}" if inside else "")
        raise click.UsageError(
            f"{lesson} is an exercise. Only whole lessons can be checked. Type: {command}"
        )
    folder = find_folder(lesson, inside)
    if folder != Path.cwd():
        click.echo(f"Checking {folder}")
    provide_horovod_for(folder.glob("*.py"))
    results, faults = check_folder(folder, exercises_of_course(lesson))
    for fault in faults:
        click.echo(fault)
    show(results, folder.name)
    passed = sum(result.status == "passed" for result in results)
    click.echo(f"{passed} of {len(results)} exercises passed")
    sys.exit(0 if passed == len(results) and not faults else 1)


def exercises_of_course(number: str) -> set[str]:
    """Return the exercises for which the released lesson has checks."""
    import nbformat

    try:
        [folder] = choose_lessons(course_root() / "lessons", [number]).values()
        return checked_exercises(nbformat.read(notebook_in(folder), as_version=4))
    except (click.UsageError, OSError, ValueError):
        return set()


def show(results: list[ExerciseResult], title: str) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("exercise", "result", "what", title=title, title_justify="left")
    for result in results:
        style = f"[{COLOURS[result.status]}]{result.status}[/]"
        table.add_row(result.exercise, style, result.said.replace("[", r"\["))
    Console(width=None if sys.stdout.isatty() else 100).print(table)
