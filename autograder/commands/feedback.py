"""`autograder feedback`: pack feedback for students in the forms of Moodle and Canvas."""

from pathlib import Path

import click

from autograder.commands.options import EXISTING, FILE, FOLDER, THERE, roster_option
from autograder.data_files import write
from autograder.report import packed
from autograder.settings.roster import read_roster


@click.command()
@click.argument("grades", type=THERE)
@roster_option
@click.option(
    "--moodle", type=FILE, multiple=True, help="Grading worksheet of the assignment, 02-….csv."
)
@click.option(
    "--canvas", type=EXISTING, multiple=True, help="Canvas's own download, 02-….zip or a folder."
)
@click.option("--out", type=FOLDER, help="Default: feedback/ in GRADES.")
def feedback_command(
    grades: Path,
    roster: Path | None,
    moodle: tuple[Path, ...],
    canvas: tuple[Path, ...],
    out: Path | None,
) -> None:
    """Pack feedback for each student from GRADES, the folder of `autograder grade --out`.

    A page of the lesson, its reasons and what to do next, as one file for each student.
    """
    if not (moodle or canvas):
        raise click.UsageError(
            "give --moodle or --canvas; for other platforms, hand out "
            f"{grades / 'students'}, one file per student"
        )
    graded, people = packed.read_class(grades), read_roster(roster)
    out = out or grades / "feedback"
    packs = [packed.for_moodle(worksheet, graded, people) for worksheet in moodle]
    packs += [packed.for_canvas(download, graded, people) for download in canvas]
    for name, data, sentence in packs:
        write(out / name, data)
        click.echo(sentence)
    click.echo(f"Written to {out}")
