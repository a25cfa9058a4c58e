"""`autograder check-mine`: grade a student's own folder before it is submitted."""

import sys
from pathlib import Path

import click

from autograder.classroom.class_settings import ClassSettings
from autograder.classroom.self_grade import grade_yourself, own_files
from autograder.commands.options import FILE, THERE, lesson_named, rubrics_in, rubrics_option
from autograder.report import self_report
from autograder.safe_text import shortened
from autograder.settings import rubric
from autograder.settings.calibration import read_calibration
from autograder.settings.rubric import load_released
from autograder.settings.rubric_schema import Profile
from autograder.submissions.walk import why as reason_of


@click.command(
    epilog="Exit code 0: your outputs earn all available points; 1: some points are missing; "
    "2: wrong usage."
)
@click.argument("folders", nargs=-1, type=click.Path(path_type=Path))
@click.option("--lesson", help="The lesson, if the folder is not named after it.")
@click.option(
    "--profile",
    type=click.Choice(["smoke", "full"]),
    help="Which thresholds. Default: those for the size of your runs.",
)
@rubrics_option
@click.option("--released", type=THERE, help="The released programs, NN.json.")
@click.option("--calibration", type=FILE, help="The file that `autograder calibrate` wrote.")
def check_mine_command(
    folders: tuple[Path, ...],
    lesson: str | None,
    profile: Profile | None,
    rubrics: Path,
    released: Path | None,
    calibration: Path | None,
) -> None:
    """Grade your own FOLDERS (default: this one) before you submit them.

    Shows the points that your outputs already earn, what is missing, and what only your instructor
    can decide. Writes nothing and opens no archive.
    """
    settings = own_settings(rubrics, released, calibration)
    try:
        for place in folders:
            if not place.is_dir():
                wrong = "is not a folder" if place.exists() else "does not exist"
                name = f"{shortened(place)} {wrong}"
                raise click.UsageError(f"{name}. Name the folder of your lesson.")
        if lesson is not None:
            lesson = lesson_named(lesson, settings.rubrics)
        files = own_files(folders or [Path()], lesson, settings)
    except OSError as error:
        name = shortened(str(error.filename))
        raise click.UsageError(f"{name} cannot be read: {reason_of(error)}") from None
    grades = [grade_yourself(one, settings, profile) for one in files]
    click.echo(self_report.text(grades, profile is not None), nl=False)
    sys.exit(0 if all(one.complete for one in grades) else 1)


def own_settings(
    rubrics: Path = rubric.FOLDER, released: Path | None = None, calibration: Path | None = None
) -> ClassSettings:
    """Return settings from the files that the students' edition contains too."""
    loaded = rubrics_in(rubrics)
    known = read_calibration(calibration)
    programs = released or rubrics / "released"
    return ClassSettings(
        rubrics=loaded,
        expected={},
        released={n: load_released(programs / f"{n}.json") for n in loaded},
        references=known.references,
    )
