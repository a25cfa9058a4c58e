"""Combine class.yaml with the options of `grade` that replace its fields."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from autograder.classroom.class_settings import ClassSettings
from autograder.errors import SettingsError
from autograder.evidence.accounting_dump import read_accounting
from autograder.safe_text import printable
from autograder.settings import rubric
from autograder.settings.calibration import read_calibration
from autograder.settings.claims import who_is
from autograder.settings.class_file import ClassFile, LatePolicy, read_words
from autograder.settings.policy import read_policy
from autograder.settings.reruns import read_reruns
from autograder.settings.roster import Person, read_roster
from autograder.settings.rubric import load_released
from autograder.settings.rubric_schema import Profile, Rubric, depends_on_profile
from autograder.submissions.kinds import lesson_among

FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
NEW_FILE = click.Path(path_type=Path, dir_okay=False)
FOLDER = click.Path(path_type=Path, file_okay=False)
THERE = click.Path(path_type=Path, file_okay=False, exists=True)
COURSE = "Deep learning on supercomputers"
LONGEST_TITLE = 120
GRADED = (
    "Exit code 0: graded; 1: graded, and a person should look at something; 2: wrong usage, "
    "or a mistake in one of your files: nothing was graded; 3: the grader failed on a submission "
    "and graded the others."
)
FOR_COLLECT = ("groups", "timezone")  # fields that `grade` has no use for


@dataclass(frozen=True, slots=True)
class ClassOptions:
    """The settings for grading a class: fields of class.yaml, or the options that replace them."""

    profile: Profile | None
    title: str
    rubrics: Path
    expected: Path
    released: Path
    late: LatePolicy
    file: ClassFile  # whose lines messages name
    roster: Path | None = None
    extensions: Path | None = None
    overrides: Path | None = None
    accounting: Path | None = None
    accounting_is: str | None = None
    calibration: Path | None = None
    reruns: Path | None = None
    canvas: Path | None = None
    moodle: tuple[Path, ...] = ()


rubrics_option = click.option(
    "--rubrics", type=THERE, default=rubric.FOLDER, help="Folder of rubrics NN.yaml."
)
profile_option = click.option(
    "--profile",
    type=click.Choice(["smoke", "full"]),
    help="Thresholds for 2 CPU cores (smoke) or GPU nodes (full), if the rubric has both.",
)
OPTIONS = (
    click.option(
        "--class", "class_file", type=FILE, help="Settings. Default: class.yaml in CLASS, if any."
    ),
    profile_option,
    click.option("--rubrics", type=THERE, help="Folder of rubrics NN.yaml."),
    click.option(
        "--set",
        "words",
        metavar="FIELD=VALUE",
        multiple=True,
        help="Replace a field of class.yaml, as in overrides=overrides.csv.",
    ),
    click.option("--roster", type=FILE, help="CSV: student, name, email, ids."),
    click.option("--canvas", type=FILE, help="Canvas gradebook export to fill in."),
    click.option("--moodle", type=FILE, multiple=True, help="Moodle worksheet to fill in."),
)


def options_of(file: ClassFile, given: dict[str, Any]) -> ClassOptions:
    """Return the settings of a class. Options on the command line replace fields of the file."""
    # An option that was not given is None, or empty if it may be given several times.
    options = file.given | read_words(given.pop("words", ()))
    options |= {name: value for name, value in given.items() if value}
    if "accounting_is" in options and "accounting" not in options:
        where = file.where("accounting_is") if "accounting_is" in file.given else "--set"
        raise SettingsError(f"{where}: accounting_is does nothing without `accounting`")
    rubrics = options.get("rubrics", rubric.FOLDER)
    name = COURSE if rubrics.resolve() == rubric.FOLDER else "Grades"  # only ours have a name
    settings = {
        "profile": None,
        "expected": rubrics / "expected",
        "released": rubrics / "released",
        **{key: value for key, value in options.items() if key not in FOR_COLLECT},
        "rubrics": rubrics,
        "title": printable(options.get("title") or name, LONGEST_TITLE),
        "late": options.get("late", LatePolicy()),
        "file": file,
    }
    return ClassOptions(**settings)


def rubrics_in(folder: Path) -> dict[str, Rubric]:
    return {path.stem: rubric.load_rubric(path) for path in rubric.files_in(folder)}


def chosen_profile(chosen: Profile | None, rubrics: Mapping[str, Rubric]) -> Profile:
    """Return the profile to judge by.

    There is no default, because each profile fails correct runs that were made for the other one.
    """
    if chosen:
        return chosen
    asking = [lesson for lesson, one in rubrics.items() if depends_on_profile(one)]
    if asking:
        raise SettingsError(
            f"The rubric of lesson {asking[0]} has thresholds for two profiles: choose one with "
            "--profile smoke (runs on 2 CPU cores) or --profile full (GPU nodes). In a class, "
            "`profile: smoke` or `profile: full` in class.yaml does the same."
        )
    return "full"


def lesson_named(text: str, lessons: Collection[str]) -> str:
    """Return the lesson with this number or name, if it has a rubric."""
    if found := lesson_among(text, lessons):
        return found
    known = ", ".join(sorted(lessons))
    raise click.UsageError(f"there is no rubric for lesson {text!r}. Lessons: {known}")


def class_options(command: Callable) -> Callable:
    """Add the options above to a command."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


@dataclass(frozen=True, slots=True)
class LoadedClass:
    """The options of a class, and what its files contain."""

    options: ClassOptions
    settings: ClassSettings
    people: dict[str, Person]


def load(options: ClassOptions) -> LoadedClass:
    """Read all files and check them against each other, before anything is graded."""
    people = read_roster(options.roster)
    loaded = rubrics_in(options.rubrics)
    known = read_calibration(options.calibration)
    settings = ClassSettings(
        rubrics=loaded,
        expected={
            n: rubric.load_expected(options.expected / f"{n}.yaml", r) for n, r in loaded.items()
        },
        profile=chosen_profile(options.profile, loaded),
        heading=options.title,
        released={n: load_released(options.released / f"{n}.json") for n in loaded},
        solved={n: load_released(options.expected / "gaps" / f"{n}.json") for n in loaded},
        references=known.references,
        curves=known.curves,
        jobs=read_accounting(options.accounting) if options.accounting else None,
        accounting_required=options.accounting_is is not None,
        policy=read_policy(
            loaded,
            options.late,
            options.file,
            options.extensions,
            options.overrides,
            who_is(people, {}),
        ),
        reruns=read_reruns(options.reruns),
        logins={p.student: p.login for p in people.values() if p.login},
        names={p.student: p.full_name for p in people.values() if p.full_name},
    )
    return LoadedClass(options, settings, people)
