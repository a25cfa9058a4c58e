"""`autograder rubric check`: read rubrics as grading does, without grading."""

from pathlib import Path

import click

from autograder.commands.rubric_part import part_command
from autograder.errors import SettingsError
from autograder.json_lists import print_json, with_json
from autograder.settings.rubric import FOLDER, files_in, load_expected, load_rubric


@click.group()
def rubric_command() -> None:
    """Check rubrics, or make one from a part of a lesson."""


rubric_command.add_command(part_command)


@rubric_command.command("check")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path, exists=True))
@with_json
def check_command(paths: tuple[Path, ...], as_json: bool) -> None:
    """Read rubrics (default: the course's own) as grading does, and say what is wrong and where."""
    wrong, rows = [], []
    for path in paths or (FOLDER,):
        for file in files_in(path) if path.is_dir() else [path]:
            try:
                loaded = load_rubric(file)
                expected = load_expected(file.parent / "expected" / file.name, loaded)
            except SettingsError as error:
                wrong.append(error.message)
                continue
            row = {
                "file": str(file),
                "lesson": loaded.lesson,
                "points": loaded.points,
                "checks": len(loaded.checks),
                "answers": len(loaded.answers),
                "expected": len(expected),
            }
            rows.append(row)
            if not as_json:
                click.echo(
                    "{file}: lesson {lesson}, {points:g} points, {checks} checks, {answers} "
                    "answers ({expected} expected values)".format_map(row)
                )
    if as_json:
        print_json(rows)
    if wrong:
        raise SettingsError("\n".join(wrong))
