"""Read and check the files that a class's options name, and compute keys to detect changes."""

from collections.abc import Collection, Iterator
from pathlib import Path

from autograder.classroom.class_settings import ClassSettings
from autograder.classroom.kept import code_key, digest
from autograder.commands.options import ClassOptions
from autograder.evidence.accounting_dump import read_accounting
from autograder.report.leaderboard import read_names
from autograder.settings import rubric
from autograder.settings.calibration import read_calibration
from autograder.settings.known_as import who_is
from autograder.settings.read_policy import PolicyFiles, read_policy
from autograder.settings.released import load_released
from autograder.settings.reruns import NAME, read_reruns
from autograder.settings.roster import Person, read_roster


def load(options: ClassOptions) -> tuple[ClassSettings, dict[str, Person]]:
    """Read all files and check them against each other, before anything is graded."""
    people = read_roster(options.roster)
    loaded = {path.stem: rubric.load_rubric(path) for path in rubric.files_in(options.rubrics)}
    files = (options.policy, options.extensions, options.overrides, options.regrades)
    rules = read_policy(loaded, PolicyFiles(*files), who_is(people, {}))
    folder = options.expected_folder
    known = read_calibration(options.calibration)
    settings = ClassSettings(
        rubrics=loaded,
        expected={n: rubric.load_expected(folder / f"{n}.yaml", r) for n, r in loaded.items()},
        profile=options.profile,
        heading=options.heading,
        released={n: load_released(options.released_folder / f"{n}.json") for n in loaded},
        references=known.references,
        curves=known.curves,
        jobs=read_accounting(options.sacct) if options.sacct else None,
        key=key(options),
        policy=rules,
        reruns=read_reruns(options.reruns),
        logins={p.student: p.login for p in people.values() if p.login},
        names={p.student: p.full_name for p in people.values() if p.full_name},
    )
    return settings, people


def pseudonyms(
    options: ClassOptions, people: dict[str, Person], graded: Collection[str]
) -> dict[str, str] | None:
    """Return the pseudonyms of students who want to be on the leaderboard, if there is one."""
    if not options.leaderboard:
        return None
    return read_names(options.leaderboard, people, graded, who_is(people, {}))


# --- keys of the options -----------------------------------------------------------------------

# Policy, roster, reruns and similar files are part of each student's own key instead.
FOR_ALL = (
    "grader",
    "profile",
    "title",
    "rubrics",
    "expected",
    "released",
    "calibration",
    "sacct",
    "junit",  # these files are written only when a student is graded
)
FILES = (
    "calibration",
    "sacct",
    "roster",
    "policy",
    "extensions",
    "overrides",
    "regrades",
)


def key(options: ClassOptions) -> str:
    """Return a key that changes with everything that all students' grades depend on."""
    known = fingerprints(options)
    return digest(f"{name} {known[name]}".encode() for name in FOR_ALL)


def fingerprints(options: ClassOptions) -> dict[str, str]:
    """Return a fingerprint of each option that grades depend on.

    Equal contents give equal fingerprints, wherever the file is.
    """
    rubrics = rubric.files_in(options.rubrics)
    answers = [path for r in rubrics if (path := options.expected_folder / r.name).exists()]
    found = {
        "grader": code_key(),
        "profile": options.profile,
        "title": options.heading,
        "junit": "yes" if options.junit else "",
        "rubrics": digest(parts_of(rubrics)),
        "expected": digest(parts_of(answers)),
        "released": digest(parts_of(sorted(options.released_folder.glob("*.json")))),
    }
    for name in FILES:
        path = getattr(options, name)
        found[name] = digest([path.read_bytes()]) if path else ""
    reruns = sorted(options.reruns.glob(f"*/*/{NAME}")) if options.reruns else []
    found["reruns"] = digest(path.read_bytes() for path in reruns) if reruns else ""
    return found


def parts_of(files: list[Path]) -> Iterator[bytes]:
    for path in files:
        yield path.name.encode() + b"\0" + path.read_bytes()
