"""`lessons submit`: pack a lesson's folder, and report what the grader will find in it."""

import os
import shlex
from pathlib import Path

import click

from autograder.reading.files import read_files
from autograder.report import self_report
from lessons.edition.pack import write_zip
from lessons.folders import LESSON_NAME
from lessons.student.bundle import Bundle, choose_files, dates_of, read_bundle
from lessons.student.drop import hand_in
from lessons.student.ended_badly import not_counted
from lessons.student.grader_misses import own_id, what_is_missing
from lessons.student.lesson_folder import find_folder, in_folder, lesson_here, shown
from lessons.student.own_grade import own_grade
from lessons.student.start_page import write_again


@click.command("submit")
@click.argument("lesson", metavar="[NN]", required=False)
@in_folder
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Default: NN_….zip.")
def submit_command(lesson: str | None, inside: Path | None, out: Path | None) -> None:
    """Pack a lesson's folder for submission, and report what the grader will miss in it.

    Without a number, it packs the lesson whose folder you are in. If COURSE_DROP names the class's
    drop folder, it also submits the zip there and prints a receipt.
    """
    lesson = lesson or lesson_here(inside)
    folder = find_folder(lesson, inside)
    number = lesson.split("_")[0].zfill(2)
    if LESSON_NAME.fullmatch(folder.name) and folder.name[:2] != number:
        raise click.UsageError(f"{folder} is lesson {folder.name[:2]}, not {number}.")
    target = out or default_target(folder)
    if target.suffix != ".zip":
        raise click.UsageError(f"--out {target}: name a file that ends in .zip.")
    bundle = choose_files(folder, target)
    contents = read_bundle(bundle, number)
    runs = read_files(folder / path for path in bundle.files.get("outputs", []))
    problems = list(dict.fromkeys(what_is_missing(bundle, number, runs)))
    extra = list(dict.fromkeys(not_counted(runs, folder)))
    write_zip(target, contents, frozenset(), dates_of(bundle, contents))
    size = target.stat().st_size / 1000
    click.echo(f"{target.resolve()}: {len(contents)} files of {shown(folder)}, {size:.0f} kB")
    if name := own_id(bundle):
        click.echo(f"  your id:   {name} (your questions are drawn by it)")
    tell(bundle, extra, problems)
    tell_grade(bundle, number)
    write_again(folder)
    if place := os.environ.get("COURSE_DROP"):
        click.echo(f"\n{hand_in(Path(place), target.resolve())}")


def default_target(folder: Path) -> Path:
    """Return the path of the zip: in the current folder, but never in another lesson's folder."""
    name, here = f"{folder.name}.zip", Path.cwd().resolve()
    inside_lesson = any(LESSON_NAME.fullmatch(place.name) for place in (here, *here.parents))
    if inside_lesson and not here.is_relative_to(folder.resolve()):
        return folder.parent / name
    return Path(name)


def tell(bundle: Bundle, extra: list[str], problems: list[str]) -> None:
    for kind in ("notebook", "programs", "job files", "outputs", "answers"):
        names = ", ".join(map(str, bundle.files.get(kind, []))) or "none"
        click.echo(f"  {kind + ':':11}{names}")
    if report := bundle.files.get("report"):
        click.echo(f"  report:    {', '.join(map(str, report))}")
    if bundle.left_out:
        click.echo(f"  left out:  {', '.join(bundle.left_out)}")
    if extra:
        click.echo("Also included, but not counted:")
        for sentence in extra:
            click.echo(f"  - {sentence}")
    if problems:
        click.echo("Look at these before you submit:")
        for problem in problems:
            click.echo(f"  - {problem}")
    else:
        all_ = "all that gives points" if extra else "all that the lesson asks for"
        click.echo(f"The grader will find {all_}.")


def tell_grade(bundle: Bundle, lesson: str) -> None:
    """Print the results that the packed outputs determine even without the instructor's files."""
    grade = own_grade(bundle, lesson)
    if grade is None:
        return
    click.echo(f"\n{self_report.text([grade], chosen=False, brief=True)}", nl=False)
    if not grade.complete:
        click.echo(
            f"For the reasons: autograder check-mine {shlex.quote(str(shown(bundle.folder)))}"
        )
