"""`autograder grade`: a folder of submissions in, grades and reports out."""

import sys
from pathlib import Path

import click

from autograder import collect, mark, rubric
from autograder.strict_yaml import SettingsError
from autograder.verdict import GRADER_ERROR, Grade


@click.command()
@click.argument("submissions", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Folder for reports.")
@click.option(
    "--profile",
    type=click.Choice(["smoke", "full"]),
    default="full",
    show_default=True,
    help="Which thresholds: smoke for 2 CPU cores, full for GPU nodes.",
)
@click.option("--lesson", help="The lesson of files that lie in no lesson's folder, like 02.")
@click.option("--student", help="The student's name when files or one folder are graded.")
@click.option(
    "--rubrics",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    default=rubric.FOLDER,
    help="Folder with the rubrics NN.yaml.",
)
@click.option(
    "--expected",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder with the expected answers NN.yaml. Default: expected/ beside the rubrics.",
)
def grade_command(
    submissions: tuple[Path, ...],
    out: Path | None,
    profile: rubric.Profile,
    lesson: str | None,
    student: str | None,
    rubrics: Path,
    expected: Path | None,
) -> None:
    """Grade SUBMISSIONS: a folder <student>/<lesson>/…, archives, or bare output files.

    Exit code 0: graded; 1: graded, somebody should look; 2: usage or rubric; 3: grader error.
    """
    settings = load_settings(rubrics, expected, profile)
    students = collect.find_students(submissions, student, lesson)
    if not students:
        raise click.UsageError("no submissions found: expected folders <student>/<lesson>/…")
    grades = [g for s in students for g in mark.mark_student(s, settings)]
    if out is not None:
        from autograder.report import html

        html.write(grades, out)
    from autograder.report import terminal

    terminal.show(grades, out)
    sys.exit(exit_code(grades))


def load_settings(rubrics: Path, expected: Path | None, profile: rubric.Profile) -> mark.Settings:
    loaded = {path.stem: rubric.load_rubric(path) for path in sorted(rubrics.glob("[0-9]*.yaml"))}
    if not loaded:
        raise SettingsError(f"{rubrics} holds no rubric NN.yaml")
    folder = expected or rubrics / "expected"
    answers = {name: rubric.load_expected(folder / f"{name}.yaml", r) for name, r in loaded.items()}
    return mark.Settings(loaded, answers, profile)


def exit_code(grades: list[Grade]) -> int:
    if any(g.status == GRADER_ERROR for g in grades):
        return 3
    return 1 if any(g.look for g in grades) else 0
