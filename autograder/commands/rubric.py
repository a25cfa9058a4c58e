"""`autograder rubric`: check rubrics without grading, or make one from some checks of a lesson."""

import shutil
from pathlib import Path

import click
import yaml

from autograder.commands.options import EXISTING, FOLDER, rubrics_option
from autograder.data_files import write
from autograder.errors import SettingsError
from autograder.settings import rubric
from autograder.settings.policy import lesson_meant
from autograder.settings.rubric import load_expected, load_rubric, unexpected
from autograder.settings.rubric_schema import PROFILES
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
    asked = load_rubric(path)
    expected = load_expected(rubrics / "expected" / path.name, asked)
    ids = [check.id for check in asked.checks]
    if unknown := [name for name in checks if name not in ids]:
        raise SettingsError(f"{path} has no check {unknown[0]!r}; there are: {', '.join(ids)}")
    chosen = [check for check in asked.checks if not checks or check.id in checks]
    smoke, full = map(asked.model_copy(update={"checks": chosen}).worth, PROFILES)
    if smoke != full:
        text = f"these checks are worth {smoke:g} points in smoke and {full:g} in full"
        raise SettingsError(f"{path}: {text}: add the one that belongs to the other profile")
    data, _ = read_yaml(path)
    kept = data | {
        "points": smoke,
        "checks": [check for check in data["checks"] if not checks or check["id"] in checks],
    }
    used = {answer for check in chosen for answer in check.answers}
    kept["answers"] = {id_: text for id_, text in data.get("answers", {}).items() if id_ in used}
    new = out / path.name
    if new.is_file() and read_yaml(new)[0] != kept:
        raise SettingsError(f"{new} already exists with other contents: delete it, or change --out")
    answers = {key: value for key, value in expected.items() if key in kept["answers"]}
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
