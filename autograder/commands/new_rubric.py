"""`autograder new-rubric`: ask five questions about an exercise and write its rubric."""

import math
from pathlib import Path
from typing import Any

import click
import yaml
from click.core import ParameterSource

from autograder.errors import SettingsError
from autograder.reading.printed_lines import READERS
from autograder.report.rendering import render
from autograder.settings.rubric import load_rubric
from autograder.writing import write_if_new

LINES = "A line that `autograder read` does not recognise, with {epoch}, {seconds}, {workers} …"


def sizes_of(text: Any) -> list[int]:
    if isinstance(text, list):  # click calls this again with the answer to a prompt
        return text
    words = text.replace(",", " ").split()
    if not words or not all(word.isdecimal() and int(word) for word in words):
        raise click.BadParameter(f"{text!r}: give numbers above 0, such as 1,2,4")
    return sorted({int(word) for word in words})


@click.command("new-rubric")
@click.argument("path", metavar="RUBRIC.yaml", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--title", prompt="Title of the exercise", help="Title of the exercise.")
@click.option(
    "--workers",
    default="1",
    type=sizes_of,
    metavar="N,N,…",
    prompt="Numbers of workers to run on",
    help="Numbers of workers, such as 1,2,4. Default: 1.",
)
@click.option(
    "--accuracy",
    type=click.FloatRange(0, 1),
    prompt="Test accuracy for all points, between 0 and 1",
    help="Test accuracy for all points.",
)
@click.option(
    "--speedup",
    type=click.FloatRange(0),
    default=0.0,
    prompt="Speedup for all points, most workers relative to fewest; 0: none",
    help="Speedup for all points, most workers relative to fewest. Default: none.",
)
@click.option(
    "--line",
    "lines",
    multiple=True,
    help="A line of the program, with {epoch}, {seconds}, {workers} … for the numbers. Needed if "
    "`autograder read` does not recognise it.",
)
@click.pass_context
def new_rubric_command(
    context: click.Context, path: Path, lines: tuple[str, ...], **asked: Any
) -> None:
    """Ask five questions about an exercise of your own, and write its rubric.

    A question that an option answers is not asked. Edit the file afterwards: docs/rubrics.md.
    """
    if path.exists():
        raise SettingsError(f"{path} exists already: edit it, or choose another name")
    if asked["speedup"] and not 1 < asked["speedup"] <= asked["workers"][-1] / asked["workers"][0]:
        raise SettingsError(f"--speedup {asked['speedup']:g}: needs that many times more workers")
    if not lines and context.get_parameter_source("title") is ParameterSource.PROMPT:
        lines = tuple(iter(lambda: click.prompt(LINES, default="", show_default=False), ""))
    formats = [reader.format for reader in READERS]
    facts = {"lesson": path.stem, "lines": [*lines], "formats": formats, "flow": flow, **asked}
    write_if_new(path, render("new_rubric.yaml.j2", **facts))
    try:
        load_rubric(path)
    except SettingsError:
        path.unlink()
        raise
    click.echo(f"Written: {path}. Grade with: autograder grade CLASS --rubrics {path.parent}")


def flow(value: Any) -> str:
    """Return a value as YAML on one line."""
    text = yaml.safe_dump([value], default_flow_style=True, allow_unicode=True, width=math.inf)
    return text.strip()[1:-1]
