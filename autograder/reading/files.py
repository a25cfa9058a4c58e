"""Read what jobs printed: files of one submission in, runs with located problems out."""

import io
import json
import stat
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, BinaryIO

import click

from autograder.reading.formats import record
from autograder.reading.formats.reader import Reader
from autograder.reading.one_job import read_job
from autograder.reading.scan import scan
from autograder.reading.scanned_file import ScannedFile
from autograder.records import Epoch, Number, Problem, Run, Where
from autograder.safe_text import printable
from autograder.submissions import output_names


def read_files(paths: Iterable[Path | str], formats: Sequence[Reader] = ()) -> list[Run]:
    """The runs in the outputs of one submission. Nothing in a file makes this raise."""
    unread: list[Run] = []
    streams: dict[str, BinaryIO] = {}
    try:
        for path in map(Path, paths):
            try:
                if stat.S_ISREG(path.stat().st_mode):
                    streams[str(path)] = path.open("rb")
                    continue
                reason = "this is no regular file"
            except OSError as error:
                reason = f"the file cannot be read: {error.strerror}"
            unread.append(not_read(str(path), reason))
        return read_streams(streams, formats) + unread
    finally:
        for stream in streams.values():
            stream.close()


def read_bytes(files: Mapping[str, bytes], formats: Sequence[Reader] = ()) -> list[Run]:
    """The same for what is in memory already: name -> what the file holds."""
    return read_streams({name: io.BytesIO(data) for name, data in files.items()}, formats)


def not_read(name: str, reason: str) -> Run:
    return Run((name,), "unknown", "empty", problems=(Problem(Where(name, 0), "", reason),))


def read_streams(streams: Mapping[str, BinaryIO], formats: Sequence[Reader] = ()) -> list[Run]:
    launches = record.Launches()
    scanned: dict[str, ScannedFile] = {}
    for name, stream in streams.items():
        try:
            scanned[name] = scan(name, stream, launches, formats)
        except OSError as error:
            scanned[name] = broken = ScannedFile(name)
            broken.complain(0, "", f"the file cannot be read to its end: {error.strerror}")
    runs = []
    for names in output_names.group(scanned):
        runs += read_job([scanned[name] for name in names], launches, formats)
    return runs


def summary(run: Run) -> dict[str, Any]:
    """A run in plain types: what `autograder read --json` prints. Unknown is None."""
    seconds = [plain_value(epoch.seconds) for epoch in run.epochs]
    later = [value for value in seconds[1:] if value is not None]
    checks = [epoch.val_accuracy.value for epoch in run.epochs if epoch.val_accuracy]
    last = run.unfinished or (run.epochs[-1] if run.epochs else None)
    final = run.epochs[-1] if run.epochs else None
    return {
        "files": list(run.files),
        "format": run.format,
        "outcome": run.outcome,
        "workers": run.workers,
        "job_id": run.job_id,
        "epochs": run.epochs_done if run.epochs_done is not None else len(run.epochs) or None,
        "epoch_seconds": seconds if any(value is not None for value in seconds) else [],
        "epoch_seconds_median_after_first": median(later) if later else None,
        "final_train_accuracy": plain_value(final.train_accuracy if final else None),
        "final_val_accuracy": plain_value(final.val_accuracy if final else None),
        "best_val_accuracy": max(checks, default=None),
        "test_accuracy": plain_value(run.test_accuracy),
        "final_train_loss": plain_value(last.train_loss if last else None),
        "throughput": throughput(run),
        "problems": [
            {
                "file": problem.where.file,
                "line": problem.where.line,
                "text": problem.text,
                "reason": problem.reason,
            }
            for problem in run.problems
        ],
    }


def plain_value(number: Number | None) -> float | None:
    return None if number is None else number.value


def throughput(run: Run) -> float | None:
    """What the program printed, else samples by seconds: the median over epochs after the first."""
    if run.throughput is not None:
        return run.throughput.value
    rates = [rate for epoch in run.epochs[1:] if (rate := epoch_rate(epoch)) is not None]
    return median(rates) if rates else None


def epoch_rate(epoch: Epoch) -> float | None:
    if epoch.throughput is not None:
        return epoch.throughput.value
    if epoch.unique_samples is None or epoch.seconds is None or epoch.seconds.value <= 0:
        return None
    return epoch.unique_samples / epoch.seconds.value


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
    click.echo("\n\n".join(describe(run) + beside(run, files) for run in runs))


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


def beside(run: dict[str, Any], read: Sequence[Path]) -> str:
    """A sentence on the error output, not given, of a job that did not end well: it may say why."""
    if run["outcome"] == "completed":
        return ""
    given = {path.absolute() for path in read}
    jobs = {output_names.stem(name)[0] for name in run["files"]}
    folders = dict.fromkeys(Path(name).parent for name in run["files"])
    for path in (path for folder in folders for path in sorted(folder.glob("*"))):
        job, is_error, _ = output_names.stem(str(path))
        unread = path.absolute() not in given and path.is_file() and path.stat().st_size > 0
        if job in jobs and is_error and unread:
            files = " ".join([*run["files"], str(path)])
            return f"\n  {path} was not read and may say why: autograder read {files}"
    return ""


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


def shown(value: Any) -> str:
    if isinstance(value, list):
        cut = value if len(value) <= 12 else [*value[:8], "…", *value[-3:]]
        return " ".join(shown(item) for item in cut)
    return f"{value:.6g}" if isinstance(value, float) else "?" if value is None else str(value)
