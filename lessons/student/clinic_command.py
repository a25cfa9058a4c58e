"""`lessons clinic --practice`: name incidents of lesson 17, with the answers after each try."""

import random

import click

from autograder.settings import rubric
from autograder.settings.strict_yaml import read_yaml
from lessons.folders import course_root, lesson_folders

ANSWERS = rubric.FOLDER / "expected" / "pools" / "incidents.yaml"
COUNT = 3
PARTS = ("rank", "line", "kind", "proof")


@click.command("clinic")
@click.option("--practice", is_flag=True, required=True, help="Three incidents, with answers.")
@click.option("--seed", type=int, help="Draw the same three again.")
def clinic_command(practice: bool, seed: int | None) -> None:
    """Practise on three incidents of lesson 17, which are drawn for this call.

    After each try, the right answers are printed.
    """
    if not ANSWERS.is_file():
        raise click.ClickException(
            "This edition has no answers to practise with: a class is graded with these incidents."
        )
    right = read_yaml(ANSWERS)[0]
    folder = lesson_folders(course_root() / "lessons")["17"] / "incidents"
    for name in random.Random(seed).sample(sorted(right), min(COUNT, len(right))):
        click.echo(f"\n{folder / name / 'recording.rec'}\nRead it, then answer. Ctrl+C ends.")
        ask(right[name])


def ask(right: dict[str, list[object]]) -> None:
    """Ask for each part of the answer, then print what is right."""
    given = {part: click.prompt(f"  {part}", type=str).strip() for part in PARTS}
    for part in PARTS:
        accepted = [str(value) for value in right[part]]
        found = "right" if given[part] in accepted else f"wrong: {' or '.join(accepted[:6])}"
        click.echo(f"  {part}: {found}")
