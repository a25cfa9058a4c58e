"""Read and check the settings of a class."""

from dataclasses import dataclass

from autograder.classroom.class_settings import ClassSettings
from autograder.commands.options import ClassOptions, chosen_profile, rubrics_in
from autograder.evidence.accounting_dump import read_accounting
from autograder.settings import rubric
from autograder.settings.calibration import read_calibration
from autograder.settings.claims import who_is
from autograder.settings.policy import read_policy
from autograder.settings.reruns import read_reruns
from autograder.settings.roster import Person, read_roster
from autograder.settings.rubric import load_released


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
