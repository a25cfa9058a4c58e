"""`autograder read`: what output files say, for people or as JSON."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from autograder.commands import scaling
from autograder.commands.read_why import why_lines
from autograder.reading.explain.propose import proposal
from autograder.reading.files import read_files
from autograder.reading.plain_summary import summary
from autograder.records import Run
from autograder.safe_text import LONGEST, printable, shortened
from autograder.settings.own_formats import load_formats
from autograder.submissions.error_outputs import with_those_beside
from autograder.submissions.regular_files import why as reason_of

SHOWN = (
    "job_id",
    "workers",
    "epochs",
    "epoch_seconds",
    "epoch_seconds_median_after_first",
    "final_train_loss",
    "final_train_accuracy",
    "final_val_accuracy",
    "best_val_accuracy",
    "test_accuracy",
    "throughput",
)


@click.command("read")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list, one object a run.")
@click.option(
    "--formats",
    "formats_file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Read by the `formats:` of this file too, which may be a rubric.",
)
@click.option("--propose", is_flag=True, help="Propose such `formats:` for what a file prints.")
@click.option("--why", is_flag=True, help="Say from which line and by which rule each fact is.")
def read_command(
    files: tuple[Path, ...], as_json: bool, formats_file: Path | None, propose: bool, why: bool
) -> None:
    """Print what output files of jobs say: every run with its outcome, times and accuracies.

    A job's error output that lies beside its output is read with it.
    """
    for path in files:
        check(path)
    if propose:
        click.echo(proposed(files), nl=False)
        return
    formats = load_formats(formats_file) if formats_file else []
    runs = read_files(with_those_beside(files), formats)
    if why:
        show("\n".join(why_lines(runs)))
        for text in not_understood(files, runs):
            show("\n" + text.rstrip("\n"))
        return
    if as_json:
        sizes = scaling.by_files(runs)
        objects = [summary(run) | {"scaling": sizes.get(run.files)} for run in runs]
        click.echo(json.dumps(objects, indent=1, allow_nan=False))
        return
    parts = [describe(summary(run)) for run in runs]
    show("\n\n".join([*parts, *scaling.texts(runs)]))


def check(path: Path) -> None:
    try:
        there, folder = path.exists(), path.is_dir()
    except OSError as error:
        raise click.UsageError(f"{shortened(str(path))}: {reason_of(error)}") from None
    if not there:
        raise click.UsageError(f"{path}: there is no such file. Give a job's output files.")
    if folder:
        raise click.UsageError(f"{path} is a folder. Give files, for example {path}/*.out")


def show(text: str) -> None:
    click.echo("\n".join(printable(line, LONGEST) for line in text.split("\n")))


def not_understood(files: tuple[Path, ...], runs: list[Run]) -> Iterator[str]:
    """A format of its own, proposed for each file in which no epochs were read."""
    known = {file for run in runs if run.epochs or run.unfinished for file in run.files}
    return filter(None, (proposal_for(path) for path in files if str(path) not in known))


def proposed(files: tuple[Path, ...]) -> str:
    """`formats:` for one file."""
    if len(files) > 1:
        raise click.UsageError("--propose takes one file: give one that shows all lines")
    found = proposal_for(files[0])
    if not found:
        raise click.ClickException(
            f"nothing to propose for {files[0]}: no line says in words what its numbers are, such "
            "as epoch, loss, accuracy, time; write templates yourself (docs/formats-read.md)"
        )
    return "".join(f"{printable(line, LONGEST)}\n" for line in found.splitlines())


def proposal_for(path: Path) -> str:
    try:
        return proposal(path)
    except OSError as error:
        raise click.ClickException(f"{path} cannot be read: {reason_of(error)}") from None


def describe(run: dict[str, Any]) -> str:
    """A run for people: a line a fact, what is unknown left out."""
    rows = [("outcome", run["outcome"]), ("format", run["format"])]
    rows += [(name, shown(run[name])) for name in SHOWN if run[name] not in (None, [])]
    text = "\n".join(f"  {name.replace('_', ' '):<34}{value}" for name, value in rows)
    problems = "".join(
        f"\n  {problem['file']}:{problem['line']}: {problem['reason']}"
        + (f"\n      {printable(problem['text'])}" if problem["text"] else "")
        for problem in run["problems"]
    )
    return ", ".join(run["files"]) + "\n" + text + problems


def shown(value: Any) -> str:
    if isinstance(value, list):
        cut = value if len(value) <= 12 else [*value[:8], "…", *value[-3:]]
        return " ".join(shown(item) for item in cut)
    return f"{value:.6g}" if isinstance(value, float) else "?" if value is None else str(value)
