"""`autograder new-rubric`: ask five questions about an exercise and write its rubric."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import yaml
from click.core import ParameterSource

from autograder.errors import SettingsError
from autograder.reading.printed_lines import READERS
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
    data = rubric_of(path.stem, lines, **asked)
    write_if_new(
        path,
        yaml.safe_dump(
            data, sort_keys=False, allow_unicode=True, default_flow_style=None, width=100
        ),
    )
    try:
        load_rubric(path)
    except SettingsError:
        path.unlink()
        raise
    click.echo(f"Written: {path}. Grade with: autograder grade CLASS --rubrics {path.parent}")


def rubric_of(
    lesson: str,
    lines: Sequence[str],
    title: str,
    workers: list[int],
    accuracy: float,
    speedup: float,
) -> dict[str, Any]:
    read_as = ["ours"] if lines else [reader.format for reader in READERS]
    names = {size: f"workers-{size}" for size in workers}
    reached = {"metric": "test_accuracy", "of": [*names.values()], "at_least": accuracy}
    checks = [
        {"id": "accuracy", "title": f"The test accuracy is {accuracy:g}", "points": 4}
        | {"require": [reached]}
    ]
    if speedup:
        few, most = workers[0], workers[-1]
        faster = {"metric": "speedup", "of": names[most], "base": names[few]}
        checks.append(
            {"id": "speedup", "title": f"{most} workers are {speedup:g} times as fast as {few}"}
            | {"points": 6, "require": [faster | {"at_least": speedup, "zero_from": 1}]}
        )
    return {
        "lesson": lesson,
        "title": title,
        "points": sum(check["points"] for check in checks),
        **({"formats": [{"name": "ours", "templates": [*lines]}]} if lines else {}),
        "runs": {
            name: {
                "where": {"world_size": size} if len(workers) > 1 else {"lesson": lesson},
                "or_format": [*read_as],
            }
            for size, name in names.items()
        },
        "checks": checks,
    }
