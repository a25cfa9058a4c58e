"""The command-line options of `grade` and `merge` that describe how to grade a class."""

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path

import click

from autograder.classroom.shards import Shard
from autograder.safe_text import printable
from autograder.settings import rubric
from autograder.settings.rubric_schema import Profile

FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
FOLDER = click.Path(path_type=Path, file_okay=False)
THERE = click.Path(path_type=Path, file_okay=False, exists=True)
COURSE = "Deep learning on supercomputers"
LONGEST_TITLE = 120


@dataclass(frozen=True, slots=True)
class ClassOptions:
    """The values of OPTIONS below, under the same names."""

    profile: Profile
    title: str | None
    rubrics: Path
    expected: Path | None
    released: Path | None
    calibration: Path | None
    sacct: Path | None
    reruns: Path | None
    roster: Path | None
    policy: Path | None
    extensions: Path | None
    overrides: Path | None
    regrades: Path | None
    leaderboard: Path | None
    canvas: Path | None
    moodle: tuple[Path, ...]
    junit: bool

    @property
    def heading(self) -> str:
        """Return the title of all pages. The default for the course's own rubrics is its name."""
        ours = self.rubrics.resolve() == rubric.FOLDER
        return printable(self.title or (COURSE if ours else "Grades"), LONGEST_TITLE)

    @property
    def expected_folder(self) -> Path:
        return self.expected or self.rubrics / "expected"

    @property
    def released_folder(self) -> Path:
        return self.released or self.rubrics / "released"


OPTIONS = (
    click.option(
        "--profile",
        type=click.Choice(["smoke", "full"]),
        default="full",
        show_default=True,
        help="Which thresholds: smoke for 2 CPU cores, full for GPU nodes.",
    ),
    click.option("--title", help="The title of all pages, such as the course's name and the term."),
    click.option("--rubrics", type=THERE, default=rubric.FOLDER, help="Folder of rubrics NN.yaml."),
    click.option(
        "--expected",
        type=THERE,
        help="Folder of expected answers NN.yaml. Default: expected/ in that of the rubrics.",
    ),
    click.option(
        "--released",
        type=THERE,
        help="Programs as you released them, NN.json. Default: released/ in the rubrics' folder.",
    ),
    click.option(
        "--calibration", type=FILE, help="What `autograder calibrate` wrote for the site."
    ),
    click.option("--sacct", type=FILE, help="The scheduler's accounting, taken by you."),
    click.option(
        "--reruns",
        type=THERE,
        help="What `cluster rerun` left: the programs run again.",
    ),
    click.option("--roster", type=FILE, help="CSV: student, name, email, ids."),
    click.option("--policy", type=FILE, help="YAML: due times, late days, drops."),
    click.option("--extensions", type=FILE, help="CSV: student, lesson, days, reason."),
    click.option("--overrides", type=FILE, help="CSV: student, lesson, check, points, reason."),
    click.option("--regrades", type=FILE, help="CSV: student, lesson, check, says: requests."),
    click.option(
        "--leaderboard", type=FILE, help="CSV: student, pseudonym: who wants to be on it."
    ),
    click.option("--canvas", type=FILE, help="Canvas gradebook export to fill in."),
    click.option("--moodle", type=FILE, multiple=True, help="Moodle worksheet to fill in."),
    click.option("--junit", is_flag=True, help="Also write one JUnit file per student."),
)


def shard_of(context: click.Context, parameter: click.Parameter, text: str | None) -> Shard | None:
    if text is None:
        return None
    match = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text)
    shard = Shard(int(match[1]), int(match[2])) if match else Shard(0, 0)
    if not 1 <= shard.number <= shard.of:
        raise click.BadParameter(f"{text!r} names no part; 2/8 is the second of eight")
    return shard


shard_option = click.option(
    "--shard",
    metavar="I/N",
    callback=shard_of,
    help="Grade the I-th of N parts of the class; `autograder merge` puts them together.",
)


def class_options(command: Callable) -> Callable:
    """Add the options above to a command, which receives them as one argument `options`."""

    @functools.wraps(command)
    def with_options(**given: object) -> object:
        options = {field.name: given.pop(field.name) for field in fields(ClassOptions)}
        return command(options=ClassOptions(**options), **given)  # type: ignore[arg-type]

    for option in reversed(OPTIONS):
        with_options = option(with_options)
    return with_options
