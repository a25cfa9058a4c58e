"""`autograder rubric`: check rubrics without grading, or make one from some checks of a lesson."""

import shutil
from pathlib import Path
from typing import Any

import click
import yaml

from autograder.commands.options import EXISTING, FOLDER, rubrics_option
from autograder.data_files import write
from autograder.errors import SettingsError
from autograder.settings import rubric
from autograder.settings.policy import lesson_meant
from autograder.settings.rubric import load_expected, load_rubric, unexpected
from autograder.settings.strict_yaml import read_yaml
from autograder.wording import counted

HOMES = "", "expected/"  # of the rubrics, and of the expected answers


@click.group()
def rubric_command() -> None:
    """Check rubrics, or make one from a part of a lesson."""


@rubric_command.command("check")
@click.argument("paths", nargs=-1, type=EXISTING)
def check_command(paths: tuple[Path, ...]) -> None:
    """Read rubrics (default: the course's own) as grading does, and say what is wrong and where."""
    wrong = []
    for path in paths or (rubric.FOLDER,):
        for file in rubric.files_in(path) if path.is_dir() else [path]:
            try:
                loaded = load_rubric(file)
                expected = load_expected(file.parent / "expected" / file.name, loaded)
            except SettingsError as error:
                wrong.append(error.message)
                continue
            if missing := unexpected(loaded, expected):
                wrong.append(
                    f"{file}: no expected value for {counted(len(missing), 'answer')}, which "
                    f"therefore earn nothing: {file.parent / 'expected' / file.name} is missing"
                )
            click.echo(
                f"{file}: lesson {loaded.lesson}, {loaded.points:g} points, "
                f"{len(loaded.checks)} checks, {len(loaded.answers)} answers "
                f"({len(expected)} expected values)"
            )
    if wrong:
        raise SettingsError("\n".join(wrong))


@rubric_command.command("part")
@click.argument("lesson")
@click.argument("checks", nargs=-1)
@click.option(
    "--out",
    type=FOLDER,
    required=True,
    help="Folder for the new rubric. It must not be the folder of the rubrics.",
)
@rubrics_option
def part_command(lesson: str, checks: tuple[str, ...], out: Path, rubrics: Path) -> None:
    """Write a rubric with only these CHECKS of LESSON (default: all) and their points.

    Use it for a session that covers only part of a lesson: `autograder grade --rubrics OUT`.
    """
    lessons = [path.stem for path in rubric.files_in(rubrics)]
    path = rubrics / f"{lesson_meant(lesson, lessons, 'LESSON')}.yaml"
    if out.resolve() == rubrics.resolve():
        raise SettingsError(f"--out {out}: this would overwrite the rubric itself")
    expected = load_expected(rubrics / "expected" / path.name, load_rubric(path))
    data, _ = read_yaml(path)
    ids = [check["id"] for check in data["checks"]]
    if unknown := [name for name in checks if name not in ids]:
        raise SettingsError(f"{path} has no check {unknown[0]!r}; there are: {', '.join(ids)}")
    kept = part(data, checks or ids)
    smoke, full = (worth(kept, profile) for profile in ("smoke", "full"))
    if smoke != full:
        text = f"these checks are worth {smoke:g} points in smoke and {full:g} in full"
        raise SettingsError(f"{path}: {text}: add the one that belongs to the other profile")
    new = out / path.name
    if new.is_file() and read_yaml(new)[0] != kept:
        raise SettingsError(f"{new} already exists with other contents: delete it, or change --out")
    answers = {key: value for key, value in expected.items() if key in kept.get("answers", {})}
    for file, contents in ((new, kept), (out / "expected" / path.name, answers)):
        write(file, yaml.safe_dump(contents, sort_keys=False, allow_unicode=True))
    # Without these files, `grade --rubrics OUT` would not compare programs, nor draw items.
    pools = [f"{home}pools/{name}.yaml" for name in kept.get("pools", ()) for home in HOMES]
    for name in (f"released/{path.stem}.json", f"expected/gaps/{path.stem}.json", *pools):
        if (rubrics / name).is_file():
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(rubrics / name, out / name)
    holds = f"{counted(smoke, 'point')}, {counted(len(kept['checks']), 'check')}"
    click.echo(f"{new}: {holds}")


def part(data: dict[str, Any], checks: tuple[str, ...] | list[str]) -> dict[str, Any]:
    """Return these checks, their points, and the answers that they use."""
    chosen = [check for check in data["checks"] if check["id"] in checks]
    asked = {answer for check in chosen for answer in check.get("answers", ())}
    answers = {key: value for key, value in data.get("answers", {}).items() if key in asked}
    kept = data | {"checks": chosen, "answers": answers}
    return kept | {"points": worth(kept, "smoke")}


def worth(data: dict[str, Any], profile: str) -> float:
    checks = (c for c in data["checks"] if c.get("only", profile) == profile)
    return sum(c["by_hand"] if "by_hand" in c else c["points"] for c in checks)
