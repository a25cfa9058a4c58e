"""`autograder check-mine`: grade a student's own folder before it is submitted."""

import sys
from pathlib import Path

import click

from autograder.classroom.class_settings import ClassSettings
from autograder.classroom.self_grade import grade_yourself, own_files
from autograder.commands.options import THERE, rubrics_in, rubrics_option
from autograder.report import self_report
from autograder.safe_text import shortened
from autograder.settings import answer_hints, rubric
from autograder.settings.draws import key_of_release
from autograder.settings.policy import lesson_meant
from autograder.settings.rubric import load_released
from autograder.settings.rubric_schema import Profile
from autograder.submissions.walk import why as reason_of


@click.command(
    epilog="Exit code 0: your outputs earn all available points; 1: some points are missing; "
    "2: wrong usage."
)
@click.argument("folders", nargs=-1, type=THERE)
@click.option("--lesson", help="The lesson, if the folder is not named after it.")
@click.option(
    "--profile",
    type=click.Choice(["smoke", "full"]),
    help="Which thresholds. Default: those for the size of your runs.",
)
@rubrics_option
def check_mine_command(
    folders: tuple[Path, ...], lesson: str | None, profile: Profile | None, rubrics: Path
) -> None:
    """Grade your own FOLDERS (default: this one) before you submit them.

    Shows the points that your outputs already earn, what is missing, and what only your instructor
    can decide. Writes nothing and opens no archive.
    """
    settings = own_settings(rubrics)
    try:
        if lesson is not None:
            lesson = lesson_meant(lesson, settings.rubrics, "--lesson")
        files = own_files(folders or [Path()], lesson, settings)
    except OSError as error:
        name = shortened(str(error.filename))
        raise click.UsageError(f"{name} cannot be read: {reason_of(error)}") from None
    grades = [grade_yourself(each, settings, profile) for each in files]
    click.echo(self_report.text(grades, profile is not None), nl=False)
    sys.exit(0 if all(grade.complete for grade in grades) else 1)


def own_settings(rubrics: Path = rubric.FOLDER) -> ClassSettings:
    """Return settings from the files that the students' edition contains too."""
    loaded = rubrics_in(rubrics)
    released = {n: load_released(rubrics / "released" / f"{n}.json") for n in loaded}
    key = key_of_release(rubrics)
    hashes = answer_hints.hashes(rubrics)
    return ClassSettings(loaded, {}, released=released, term_key=key, answer_hashes=hashes)
