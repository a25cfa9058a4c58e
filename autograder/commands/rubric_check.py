"""`autograder rubric check`: read rubrics as grading does, without grading."""

from pathlib import Path

import click

from autograder.commands.rubric_part import part_command
from autograder.errors import SettingsError
from autograder.settings.rubric import FOLDER, files_in, load_expected, load_rubric


@click.group()
def rubric_command() -> None:
    """Check rubrics, or make one from a part of a lesson."""


rubric_command.add_command(part_command)


@rubric_command.command("check")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path, exists=True))
def check_command(paths: tuple[Path, ...]) -> None:
    """Read rubrics (default: the course's own) as grading does, and say what is wrong and where."""
    wrong = []
    for path in paths or (FOLDER,):
        for file in files_in(path) if path.is_dir() else [path]:
            try:
                loaded = load_rubric(file)
                expected = load_expected(file.parent / "expected" / file.name, loaded)
            except SettingsError as error:
                wrong.append(error.message)
                continue
            click.echo(
                f"{file}: lesson {loaded.lesson}, {loaded.points:g} points, "
                f"{len(loaded.checks)} checks, {len(loaded.answers)} answers "
                f"({len(expected)} expected values)"
            )
    if wrong:
        raise SettingsError("\n".join(wrong))
