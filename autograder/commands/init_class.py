"""`autograder init-class`: write a class.yaml with every field and a comment."""

import os
import re
from pathlib import Path

import click

from autograder.commands.options import FOLDER
from autograder.data_files import write
from autograder.report.rendering import render
from autograder.safe_text import shortened
from autograder.settings.class_file import NAME


@click.command()
@click.argument("folder", metavar="CLASS", type=FOLDER)
@click.option("--rubric", metavar="NAME", help="Write rubrics/NAME.yaml beside CLASS instead.")
def init_class_command(folder: Path, rubric: str | None) -> None:
    """Write CLASS/class.yaml, in which every field is explained and commented out."""
    path = folder / NAME
    if rubric is not None:
        if not re.fullmatch(r"[\w-]+", rubric):
            raise click.UsageError("--rubric: use letters, digits, _ and -, as in 01")
        # In the class's folder, it would be a student's.
        path = Path(os.path.normpath(folder / ".." / "rubrics" / f"{rubric}.yaml"))
    if path.exists():
        raise click.UsageError(f"{shortened(str(path))} exists already: edit it")
    template = "new_rubric.yaml.j2" if rubric else "class.yaml.j2"
    write(path, render(template, name=rubric))
    click.echo(f"Written: {path}")
