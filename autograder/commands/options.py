"""What a class is graded by, as `grade` and `merge` take it on the command line."""

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from hashlib import blake2b
from pathlib import Path

import click

from autograder.classroom import class_run
from autograder.classroom.mark import Settings
from autograder.commands import calibrate
from autograder.evidence import accounting
from autograder.settings import policy_files, rubric
from autograder.settings import roster as rosters
from autograder.settings.roster import Person

FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
FOLDER = click.Path(path_type=Path, file_okay=False)


@dataclass(frozen=True, slots=True)
class ClassOptions:
    """The values of OPTIONS below, under the same names."""

    profile: rubric.Profile
    rubrics: Path
    expected: Path | None
    calibration: Path | None
    sacct: Path | None
    roster: Path | None
    policy: Path | None
    extensions: Path | None
    overrides: Path | None
    times: Path | None
    canvas: Path | None
    moodle: tuple[Path, ...]
    junit: bool

    @property
    def expected_folder(self) -> Path:
        return self.expected or self.rubrics / "expected"


OPTIONS = (
    click.option(
        "--profile",
        type=click.Choice(["smoke", "full"]),
        default="full",
        show_default=True,
        help="Which thresholds: smoke for 2 CPU cores, full for GPU nodes.",
    ),
    click.option(
        "--rubrics", type=FOLDER, default=rubric.FOLDER, help="Folder of rubrics NN.yaml."
    ),
    click.option(
        "--expected",
        type=FOLDER,
        help="Folder of expected answers NN.yaml. Default: expected/ in that of the rubrics.",
    ),
    click.option(
        "--calibration", type=FILE, help="What `autograder calibrate` wrote for the site."
    ),
    click.option("--sacct", type=FILE, help="The scheduler's accounting, taken by you."),
    click.option("--roster", type=FILE, help="CSV: student, name, email, ids."),
    click.option("--policy", type=FILE, help="YAML: due times, late days, drops."),
    click.option("--extensions", type=FILE, help="CSV: student, lesson, days, reason."),
    click.option("--overrides", type=FILE, help="CSV: student, lesson, check, points, reason."),
    click.option("--times", type=FILE, help="CSV: student, lesson, time of handing in."),
    click.option("--canvas", type=FILE, help="Canvas gradebook export to fill in."),
    click.option("--moodle", type=FILE, multiple=True, help="Moodle worksheet to fill in."),
    click.option("--junit", is_flag=True, help="Also one JUnit file a student."),
)


def class_options(command: Callable) -> Callable:
    """The options above on a command, which gets them as one argument `options`."""

    @functools.wraps(command)
    def with_options(**given: object) -> object:
        options = {field.name: given.pop(field.name) for field in fields(ClassOptions)}
        return command(options=ClassOptions(**options), **given)  # type: ignore[arg-type]

    for option in reversed(OPTIONS):
        with_options = option(with_options)
    return with_options


def load(options: ClassOptions) -> tuple[Settings, dict[str, Person]]:
    """All files read and checked against each other, before anything is graded."""
    people = rosters.read_roster(options.roster)
    loaded = {path.stem: rubric.load_rubric(path) for path in rubric.files_in(options.rubrics)}
    rules = policy_files.read_policy(
        loaded, options.policy, options.extensions, options.overrides, options.times
    )
    folder = options.expected_folder
    known = calibrate.read_calibration(options.calibration)
    settings = Settings(
        rubrics=loaded,
        expected={n: rubric.load_expected(folder / f"{n}.yaml", r) for n, r in loaded.items()},
        profile=options.profile,
        references=known.references,
        curves=known.curves,
        jobs=accounting.read_accounting(options.sacct) if options.sacct else None,
        key=key(options),
        policy=rules,
        logins={p.student: p.login for p in people.values() if p.login},
        names={p.student: p.full_name for p in people.values() if p.full_name},
        junit=options.junit,
    )
    return settings, people


# --- the same options again? ------------------------------------------------------------------

# Policy, roster and its like go into the key student by student: one row changes one student.
FOR_ALL = ("grader", "profile", "rubrics", "expected", "calibration", "sacct")


def key(options: ClassOptions) -> str:
    """Changes with everything that all students' grades depend on."""
    known = fingerprints(options)
    return digest(f"{name} {known[name]}".encode() for name in FOR_ALL)


def fingerprints(options: ClassOptions) -> dict[str, str]:
    """Of each option that grades depend on: equal for equal contents, wherever the file lies."""
    rubrics = sorted(options.rubrics.glob("[0-9]*.yaml"))
    answers = [path for r in rubrics if (path := options.expected_folder / r.name).exists()]
    found = {
        "grader": class_run.code_key(),
        "profile": options.profile,
        "junit": "yes" if options.junit else "",
        "rubrics": digest(parts_of(rubrics)),
        "expected": digest(parts_of(answers)),
    }
    for name in ("calibration", "sacct", "roster", "policy", "extensions", "overrides", "times"):
        path = getattr(options, name)
        found[name] = digest([path.read_bytes()]) if path else ""
    return found


def parts_of(files: list[Path]) -> Iterator[bytes]:
    for path in files:
        yield path.name.encode() + b"\0" + path.read_bytes()


def digest(parts: Iterator[bytes] | list[bytes]) -> str:
    whole = blake2b(digest_size=16)
    for part in parts:
        whole.update(len(part).to_bytes(8) + part)
    return whole.hexdigest()
