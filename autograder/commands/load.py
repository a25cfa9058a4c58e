"""Read and check the settings of a class, and make keys that show whether they have changed."""

from dataclasses import dataclass, fields
from pathlib import Path

from autograder.classroom.class_settings import ClassSettings
from autograder.classroom.kept import code_key, digest
from autograder.commands.options import ClassOptions, chosen_profile, rubrics_in
from autograder.evidence.accounting_dump import read_accounting
from autograder.settings import rubric
from autograder.settings.calibration import read_calibration
from autograder.settings.claims import who_is
from autograder.settings.policy import LateRules, PolicyFiles, read_policy
from autograder.settings.reruns import NAME as RERUN
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
    files = PolicyFiles(options.extensions, options.overrides)
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
        key=key(options),
        policy=read_policy(loaded, options.late, files, who_is(people, {})),
        reruns=read_reruns(options.reruns),
        logins={p.student: p.login for p in people.values() if p.login},
        names={p.student: p.full_name for p in people.values() if p.full_name},
    )
    return LoadedClass(options, settings, people)


# --- the same settings again? -----------------------------------------------------------------

# No grade depends on these: they are written when the whole class is graded.
WRITTEN_LAST = ("canvas", "moodle")
# These go into the key student by student, so that one row changes one student.
BY_STUDENT = ("roster", "late", "extensions", "overrides", "reruns")
# The files that are read in a folder.
READ = {
    "rubrics": "*.yaml",
    "expected": "**/[0-9]*.*",
    "released": "*.json",
    "reruns": f"*/*/{RERUN}",
}


def key(options: ClassOptions) -> str:
    """Return a key that changes with every input that affects all students' grades."""
    known = fingerprints(options)
    return digest(f"{name} {known[name]}".encode() for name in known if name not in BY_STUDENT)


def fingerprints(options: ClassOptions) -> dict[str, str]:
    """Return a fingerprint for each setting that grades depend on.

    Equal contents have equal fingerprints.
    """
    names = [one.name for one in fields(options) if one.name not in WRITTEN_LAST]
    return {"grader": code_key()} | {
        name: fingerprint(name, getattr(options, name)) for name in names
    }


def fingerprint(name: str, value: object) -> str:
    """Return a setting as text, or a digest of its contents if it is a file or folder."""
    if isinstance(value, LateRules):
        return repr(value.late)
    if not isinstance(value, Path):
        return "" if value is None else str(value)
    files = sorted(value.glob(READ[name])) if name in READ else [value]
    return digest(part for path in files for part in (path.stem.encode(), path.read_bytes()))
