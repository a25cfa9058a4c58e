"""`autograder grade --self`: a student's own folder, before it is handed in."""

from collections.abc import Sequence
from pathlib import Path

import click

from autograder.classroom.class_settings import ClassSettings
from autograder.classroom.self_grade import grade_yourself, places_of
from autograder.commands.options import ClassOptions
from autograder.report import self_report
from autograder.safe_text import shortened
from autograder.settings import rubric
from autograder.settings.calibration import read_calibration
from autograder.settings.released import load_released
from autograder.settings.rubric_schema import Profile
from autograder.submissions.regular_files import why as reason_of


def grade_self(
    given: Sequence[Path], lesson: str | None, options: ClassOptions, profile: Profile | None
) -> int:
    """Prints what there is to say; 0 if all is there, else 1."""
    try:
        for place in given:
            if not place.exists():
                raise click.UsageError(f"{place} does not exist. Name the folder of your lesson.")
        students = places_of(given or [Path()], lesson)
    except OSError as error:
        name = shortened(str(error.filename))
        raise click.UsageError(f"{name} cannot be looked into: {reason_of(error)}") from None
    settings = own_settings(options.rubrics, options.released_folder, options.calibration)
    grades = [one for who in students for one in grade_yourself(who, settings, profile)]
    click.echo(self_report.text(grades, profile is not None), nl=False)
    return 0 if all(one.complete for one in grades) else 1


def own_settings(
    rubrics: Path = rubric.FOLDER, released: Path | None = None, calibration: Path | None = None
) -> ClassSettings:
    """What lies in the students' edition too: rubrics and the programs as they were released."""
    loaded = {path.stem: rubric.load_rubric(path) for path in rubric.files_in(rubrics)}
    known = read_calibration(calibration)
    programs = released or rubrics / "released"
    return ClassSettings(
        rubrics=loaded,
        expected={},
        released={n: load_released(programs / f"{n}.json") for n in loaded},
        references=known.references,
    )
