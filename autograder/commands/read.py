"""`autograder read`: show what output files contain, for people or as JSON."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from autograder.grouping import grouped
from autograder.json_lists import print_json, with_json
from autograder.measuring import measure, size_table, study_table
from autograder.reading.files import read_files
from autograder.reading.plain_summary import summary
from autograder.records import Run
from autograder.safe_text import LONGEST, printable, shortened
from autograder.settings.rubric import load_formats
from autograder.submissions.output_names import with_error_outputs
from autograder.submissions.regular_files import why as reason_of
from autograder.wording import counted

MOST_SIZES = 200  # per file; more is unlikely, and the table is repeated with each of its runs
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


@click.command(
    "read",
    epilog="Exit code 0: a training run was recognised; 1: none in any of the files; 2: mistyped.",
)
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@with_json
@click.option(
    "--formats",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Also use the `formats:` section of this file, such as a rubric.",
)
def read_command(files: tuple[Path, ...], as_json: bool, formats: Path | None) -> None:
    """Print what output files of jobs contain: every run with its outcome, times and accuracies.

    A job's error output in the same folder is read with its output.
    """
    for path in files:
        check(path)
    runs = read_files(with_error_outputs(files), load_formats(formats) if formats else [])
    summaries = [summary(run) for run in runs]
    jobs = grouped((run.files, run) for run in runs)
    if as_json:
        tables = {files: scaling_tables(job) or None for files, job in jobs.items()}
        pairs = zip(summaries, runs, strict=True)
        print_json([facts | {"scaling": tables[run.files]} for facts, run in pairs])
    else:
        sizes = filter(None, map(scaling_text, jobs.values()))
        show("\n\n".join([*map(describe, summaries), *sizes]))
    if not any(map(is_recognised, summaries)):
        others = f" and {counted(len(files) - 1, 'other file')}" if len(files) > 1 else ""
        click.echo(
            f"No training run was recognised in {shortened(files[0])}{others}. If the program "
            "prints its epochs in its own way, describe its lines and add --formats RUBRIC.",
            err=True,
        )
        sys.exit(1)


def is_recognised(run: dict[str, Any]) -> bool:
    """Return whether the output's lines, not only its file name, contain facts about training."""
    facts = (run[name] for name in SHOWN if name not in ("job_id", "workers"))
    return run["format"] != "unknown" or any(fact not in (None, []) for fact in facts)


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


def describe(run: dict[str, Any]) -> str:
    """Return a run as text, with one line per known fact."""
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


# --- runs on several sizes, as `cluster scale` writes them ----------------------------------------


def scaling_tables(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Return a table for each kind of scaling that a scaling study in a single launch measured.

    If there is no study, return one table of the runs whose size is known.
    """
    studies = [
        {"kind": kind, "of": "s a pass", "rows": [row.values for row in rows], "left_out": []}
        for kind, rows in study_table.by_kind(runs)
        if rows
    ]
    if studies or not (sizes := comparable(runs)):
        return studies
    kinds = {run.header.scaling for run in runs} - {None, "serial"}
    kind = kinds.pop() if len(kinds) == 1 else None  # the records name none, or several
    return [{"kind": kind, **size_table.plain(sizes)}]


def comparable(runs: Sequence[Run]) -> size_table.Sizes | None:
    """Return the runs by size if there are at least two sizes. Ignore runs of unknown size."""
    sized = [run for run in runs if measure.workers(run)]
    if not 2 <= len({measure.workers(run) for run in sized}) <= MOST_SIZES:
        return None
    sizes = size_table.comparable(sized)
    return sizes if len(sizes.by_size) > 1 else None


def scaling_text(runs: Sequence[Run]) -> str:
    """Return a job's table as text, or no text if all runs have the same number of workers."""
    sizes = comparable(runs)
    return f"{', '.join(runs[0].files)}\n{size_table.text(sizes)}" if sizes else ""
