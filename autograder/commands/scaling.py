"""Build `autograder read`'s scaling tables for files with runs on several sizes.

`cluster scale` writes such files.
"""

from collections.abc import Sequence
from typing import Any

from autograder.measuring import measure, size_table, study_table
from autograder.records import Run

MOST_SIZES = 200  # per file; more is unlikely, and the table is repeated with each of its runs


def by_files(runs: Sequence[Run]) -> dict[tuple[str, ...], list[Run]]:
    """Return the runs of each job."""
    jobs: dict[tuple[str, ...], list[Run]] = {}
    for run in runs:
        jobs.setdefault(run.files, []).append(run)
    return jobs


def tables(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Return a table for each kind of scaling that a scaling study in a single launch measured.

    If there is no study, return one table of the runs whose size is known.
    """
    studies = [
        {"kind": kind, "of": "s a pass", "rows": [row.values for row in rows], "left_out": []}
        for kind, rows in study_table.by_kind(runs)
        if rows
    ]
    sizes = comparable(runs)
    return studies or ([{"kind": kind_of(runs), **size_table.plain(sizes)}] if sizes else [])


def comparable(runs: Sequence[Run]) -> size_table.Sizes | None:
    """Return the runs by size if there are at least two sizes. Ignore runs of unknown size."""
    sized = [run for run in runs if measure.workers(run)]
    if not 2 <= len({measure.workers(run) for run in sized}) <= MOST_SIZES:
        return None
    sizes = size_table.comparable(sized)
    return sizes if len(sizes.by_size) > 1 else None


def kind_of(runs: Sequence[Run]) -> str | None:
    """Return the kind of scaling that the records name; None if it is missing or ambiguous."""
    kinds = {run.header.scaling for run in runs} - {None, "serial"}
    return kinds.pop() if len(kinds) == 1 else None


def text(runs: Sequence[Run]) -> str:
    """Return a job's table as text, or no text if all runs have the same number of workers."""
    sizes = comparable(runs)
    return f"{', '.join(runs[0].files)}\n{size_table.text(sizes)}" if sizes else ""
