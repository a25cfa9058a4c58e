"""Combine class.yaml with the options of `grade` that replace its fields."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from autograder.classroom.class_settings import ClassSettings
from autograder.errors import SettingsError
from autograder.evidence.accounting import read_accounting
from autograder.safe_text import printable
from autograder.settings import rubric
from autograder.settings.calibration import read_calibration
from autograder.settings.class_file import ClassFile, read_words
from autograder.settings.draws import key_of_release
from autograder.settings.policy import read_policy
from autograder.settings.reruns import read_reruns
from autograder.settings.roster import meant_by, read_roster
from autograder.settings.rubric import load_released
from autograder.settings.rubric_schema import Profile, Rubric, depends_on_profile

FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
NEW_FILE = click.Path(path_type=Path, dir_okay=False)
FOLDER = click.Path(path_type=Path, file_okay=False)
THERE = click.Path(path_type=Path, file_okay=False, exists=True)
EXISTING = click.Path(path_type=Path, exists=True)
COURSE = "Deep learning on supercomputers"
LONGEST_TITLE = 120

rubrics_option = click.option(
    "--rubrics", type=THERE, default=rubric.FOLDER, help="Folder of rubrics NN.yaml."
)
profile_option = click.option(
    "--profile",
    type=click.Choice(["smoke", "full"]),
    help="Thresholds for 2 CPU cores (smoke) or GPU nodes (full), if the rubric has both.",
)
roster_option = click.option("--roster", type=FILE, help="CSV: student, name, email, ids.")


def with_options(file: ClassFile, given: dict[str, Any]) -> ClassFile:
    """Return class.yaml with the fields that `--set` and the options replace."""
    changes = read_words(given.pop("words", ()))
    # An option that was not given is None, or empty if it may be given several times.
    changes |= {name: value for name, value in given.items() if value}
    file = file.model_copy(update=changes)
    if file.accounting_is and not file.accounting:
        where = file.where("accounting_is")
        raise SettingsError(f"{where}: accounting_is does nothing without `accounting`")
    return file


def rubrics_in(folder: Path) -> dict[str, Rubric]:
    return {path.stem: rubric.load_rubric(path) for path in rubric.files_in(folder)}


def chosen_profile(chosen: Profile | None, rubrics: Mapping[str, Rubric]) -> Profile:
    """Return the profile to judge by.

    There is no default, because each profile fails correct runs that were made for the other one.
    """
    asking = [lesson for lesson, each in rubrics.items() if depends_on_profile(each)]
    if asking and not chosen:
        raise SettingsError(
            f"The rubric of lesson {asking[0]} has thresholds for two profiles: choose --profile "
            "smoke (runs on 2 CPU cores) or full (GPU nodes), or set `profile` in class.yaml."
        )
    return chosen or "full"


def load(file: ClassFile) -> ClassSettings:
    """Read all files and check them against each other, before anything is graded."""
    folder = file.rubrics
    people, loaded = read_roster(file.roster), rubrics_in(folder)
    expected = file.expected or folder / "expected"
    released = file.released or folder / "released"
    heading = COURSE if folder.resolve() == rubric.FOLDER else "Grades"  # only ours have a name
    return ClassSettings(
        rubrics=loaded,
        expected={n: rubric.load_expected(expected / f"{n}.yaml", r) for n, r in loaded.items()},
        profile=chosen_profile(file.profile, loaded),
        heading=printable(file.title or heading, LONGEST_TITLE),
        released={n: load_released(released / f"{n}.json") for n in loaded},
        solved={n: load_released(expected / "gaps" / f"{n}.json") for n in loaded},
        references=read_calibration(file.calibration),
        jobs=read_accounting(file.accounting, file.timezone) if file.accounting else None,
        accounting_required=file.accounting_is is not None,
        policy=read_policy(loaded, file, meant_by(people)),
        reruns=read_reruns(file.reruns),
        people=people,
        term_key=key_of_release(folder) if file.term_key is None else file.term_key,
    )
