"""`autograder read`: what output files say, for people or as JSON."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from autograder.reading.files import read_files
from autograder.reading.plain_summary import summary
from autograder.safe_text import LONGEST, printable
from autograder.submissions import output_names

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
def read_command(files: tuple[Path, ...], as_json: bool) -> None:
    """Print what output files of jobs say: every run with its outcome, times and accuracies."""
    for path in files:
        if not path.exists():
            raise click.UsageError(f"{path}: there is no such file. Give a job's output files.")
        if path.is_dir():
            raise click.UsageError(f"{path} is a folder. Give files, for example {path}/*.out")
    runs = [summary(run) for run in read_files(files)]
    if as_json:
        click.echo(json.dumps(runs, indent=1, allow_nan=False))
        return
    text = "\n\n".join(describe(run) + unread_error_output(run, files) for run in runs)
    click.echo("\n".join(printable(line, LONGEST) for line in text.split("\n")))


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


def unread_error_output(run: dict[str, Any], read: Sequence[Path]) -> str:
    """A sentence on the error output, not read, of a job that did not end well: it may say why."""
    if run["outcome"] == "completed":
        return ""
    known = {path.absolute() for path in read}
    jobs = {output_names.read(name).shared for name in run["files"]}
    folders = dict.fromkeys(Path(name).parent for name in run["files"])
    for path in (path for folder in folders for path in sorted(folder.glob("*"))):
        name = output_names.read(str(path))
        unread = path.absolute() not in known and path.is_file() and path.stat().st_size > 0
        if name.shared in jobs and name.is_error and unread:
            files = " ".join([*run["files"], str(path)])
            return f"\n  {path} was not read and may say why: autograder read {files}"
    return ""


def shown(value: Any) -> str:
    if isinstance(value, list):
        cut = value if len(value) <= 12 else [*value[:8], "…", *value[-3:]]
        return " ".join(shown(item) for item in cut)
    return f"{value:.6g}" if isinstance(value, float) else "?" if value is None else str(value)
