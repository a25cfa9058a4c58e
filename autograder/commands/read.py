"""`autograder read`: show what output files contain, for people or as JSON."""

import json
import sys
from collections.abc import Hashable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from autograder.codes import Outcome
from autograder.commands.options import FILE
from autograder.grouping import grouped
from autograder.measuring import interval, study_table
from autograder.measuring.study_table import SizeRow
from autograder.reading.files import read_files
from autograder.reading.plain_summary import summary
from autograder.records import Run
from autograder.safe_text import LONGEST, printable, shortened
from autograder.settings.rubric import load_rubric
from autograder.settings.rubric_schema import own_readers
from autograder.submissions.kinds import with_error_outputs
from autograder.wording import counted

NOT_OF_TRAINING = ("files", "format", "outcome", "workers", "job_id", "problems")


@click.command(
    "read",
    epilog="Exit code 0: a training run was recognised; 1: none in any file; 2: wrong usage.",
)
@click.argument("files", nargs=-1, required=True, type=FILE)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list, one object per run.")
@click.option("--formats", type=FILE, help="Also use the `formats:` section of this rubric.")
def read_command(files: tuple[Path, ...], as_json: bool, formats: Path | None) -> None:
    """Print what output files of jobs contain: every run with its outcome, times and accuracies.

    A job's error output in the same folder is read with its output.
    """
    readers = own_readers(load_rubric(formats)) if formats else []
    runs = read_files(with_error_outputs(files), readers)
    summaries = [summary(run) for run in runs]
    studies = grouped((study_of(run), run) for run in runs)
    tables = {study: list(tables_of(same)) for study, same in studies.items()}
    if as_json:
        scaling = {
            study: [{"kind": kind, "rows": [row.values for row in rows]} for kind, rows in same]
            for study, same in tables.items()
        }
        pairs = zip(summaries, runs, strict=True)
        rows = [facts | {"scaling": scaling[study_of(run)] or None} for facts, run in pairs]
        click.echo(json.dumps(rows, indent=1, allow_nan=False, ensure_ascii=False))
    else:
        text_tables = (as_text(*table) for same in tables.values() for table in same)
        text = "\n\n".join([*map(describe, summaries), *text_tables])
        click.echo("\n".join(printable(line, LONGEST) for line in text.split("\n")))
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
    facts = (fact for name, fact in run.items() if name not in NOT_OF_TRAINING)
    return run["format"] != "unknown" or any(fact not in (None, []) for fact in facts)


def describe(run: dict[str, Any]) -> str:
    """Return a run as text, with one line per known fact."""
    text = "\n".join(
        f"  {name.replace('_', ' '):<34}{written(fact)}"
        for name, fact in run.items()
        if name not in ("files", "problems") and fact not in (None, [])
    )
    problems = "".join(
        f"\n  {problem['file']}:{problem['line']}: {problem['reason']}"
        + (f"\n      {printable(problem['text'])}" if problem["text"] else "")
        for problem in run["problems"]
    )
    return ", ".join(run["files"]) + "\n" + text + problems


def written(value: Any) -> str:
    if isinstance(value, list):
        cut = value if len(value) <= 12 else [*value[:8], "…", *value[-3:]]
        return " ".join(written(item) for item in cut)
    return f"{value:.6g}" if isinstance(value, float) else "?" if value is None else str(value)


def study_of(run: Run) -> Hashable:
    """Return what runs of one study share: the program of their records, or their files."""
    program = run.header.lesson, run.header.source
    return program if any(program) else run.files


def tables_of(runs: Sequence[Run]) -> Iterator[tuple[str | None, list[SizeRow]]]:
    """Yield a table for each kind of scaling: of a study within one launch, or of the runs."""
    studies = [(kind, rows) for kind, rows in study_table.by_kind(runs) if rows]
    if studies:
        yield from studies
        return
    unclear = [run for run in runs if run.outcome == Outcome.UNKNOWN and len(run.epochs) > 1]
    over = [run for run in runs if run.outcome == Outcome.COMPLETED or run in unclear]
    kinds = sorted({kind for run in over if (kind := study_table.scaling_of(run))})
    for kind in kinds or (None,):
        same = [run for run in over if study_table.scaling_of(run) in (kind, None)]
        rows = interval.measured_or_none(study_table.rows, same) or []
        if len(rows) > 1:
            yield kind, rows


def as_text(kind: str | None, rows: Sequence[SizeRow]) -> str:
    cells = [study_table.HEAD, *(row.cells for row in rows)]
    return "\n".join([f"{kind} scaling" if kind else "sizes", *map(study_table.line, cells)])
