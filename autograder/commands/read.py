"""`autograder read`: show what output files contain, for people or as JSON."""

import sys
from collections.abc import Hashable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from autograder.codes import Outcome
from autograder.grouping import grouped
from autograder.json_lists import print_json, with_json
from autograder.measuring import interval, study_table
from autograder.measuring.study_table import SizeRow
from autograder.reading.files import read_files
from autograder.reading.plain_summary import summary
from autograder.records import Run
from autograder.safe_text import LONGEST, printable, shortened
from autograder.settings.rubric import load_rubric
from autograder.settings.rubric_schema import own_readers
from autograder.submissions.kinds import with_error_outputs
from autograder.submissions.walk import why as reason_of
from autograder.wording import counted

MOST_SIZES = 200  # more are unlikely, and the table is repeated with each of its runs
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
    epilog="Exit code 0: a training run was recognised; 1: none in any file; 2: wrong usage.",
)
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@with_json
@click.option(
    "--formats",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Also use the `formats:` section of this rubric.",
)
def read_command(files: tuple[Path, ...], as_json: bool, formats: Path | None) -> None:
    """Print what output files of jobs contain: every run with its outcome, times and accuracies.

    A job's error output in the same folder is read with its output.
    """
    for path in files:
        check(path)
    runs = read_files(
        with_error_outputs(files), own_readers(load_rubric(formats)) if formats else []
    )
    summaries = [summary(run) for run in runs]
    studies = grouped((study_of(run), run) for run in runs)
    if as_json:
        tables = {study: plain_tables(same) or None for study, same in studies.items()}
        pairs = zip(summaries, runs, strict=True)
        print_json([facts | {"scaling": tables[study_of(run)]} for facts, run in pairs])
    else:
        tables_of = (table for same in studies.values() for table in text_tables(same))
        show("\n\n".join([*map(describe, summaries), *tables_of]))
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


# --- runs on several sizes ------------------------------------------------------------------------


def study_of(run: Run) -> Hashable:
    """Return what runs of one study share: the program of their records, or their files."""
    program = run.header.lesson, run.header.source
    return program if any(program) else run.files


def tables(runs: Sequence[Run]) -> Iterator[tuple[str | None, list[SizeRow]]]:
    """Yield a table for each kind of scaling: of a study within one launch, or of the runs."""
    studies = [(kind, rows) for kind, rows in study_table.by_kind(runs) if rows]
    if studies:
        yield from studies
        return
    over = [run for run in runs if is_over(run)]
    kinds = sorted({kind for run in over if (kind := study_table.scaling_of(run))})
    for kind in kinds or (None,):
        same = [run for run in over if study_table.scaling_of(run) in (kind, None)]
        rows = interval.measured_or_none(study_table.rows, same) or []
        if 2 <= len(rows) <= MOST_SIZES:
            yield kind, rows


def is_over(run: Run) -> bool:
    """Return whether the run finished, or at least no line shows that epochs are missing."""
    counts = run.outcome == Outcome.UNKNOWN and len(run.epochs) > 1
    return counts or run.outcome == Outcome.COMPLETED


def plain_tables(runs: Sequence[Run]) -> list[dict[str, Any]]:
    return [{"kind": kind, "rows": [row.values for row in rows]} for kind, rows in tables(runs)]


def text_tables(runs: Sequence[Run]) -> Iterator[str]:
    for kind, rows in tables(runs):
        cells = [study_table.HEAD, *(row.cells for row in rows)]
        yield "\n".join([f"{kind} scaling" if kind else "sizes", *map(study_table.line, cells)])
