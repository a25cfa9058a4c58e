"""`autograder init-class`: write a class.yaml with every field and a comment."""

from pathlib import Path

import click

from autograder.commands.options import FOLDER
from autograder.report.rendering import render
from autograder.safe_text import shortened
from autograder.settings.class_file import NAME
from autograder.writing import write_if_new


@click.command()
@click.argument("folder", metavar="CLASS", type=FOLDER)
def init_class_command(folder: Path) -> None:
    """Write CLASS/class.yaml, in which every field is explained and commented out."""
    path = folder / NAME
    if path.exists():
        raise click.UsageError(f"{shortened(str(path))} exists already: edit it")
    folder.mkdir(parents=True, exist_ok=True)
    write_if_new(path, render("class.yaml.j2"))
    click.echo(f"Written: {path}")
