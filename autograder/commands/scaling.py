"""What `autograder read` says of files that hold runs on several sizes, as `cluster scale` does."""

from collections.abc import Sequence
from typing import Any

from autograder.measuring import measure, size_table, study_table
from autograder.records import Run

MOST_SIZES = 200  # of a file; nobody measured more, and the table is told with each of its runs


def by_files(runs: Sequence[Run]) -> dict[tuple[str, ...], list[dict[str, Any]]]:
    """The tables of each job's files that hold several sizes."""
    return {
        files: job_tables for files, job in jobs_of(runs).items() if (job_tables := tables(job))
    }


def jobs_of(runs: Sequence[Run]) -> dict[tuple[str, ...], list[Run]]:
    jobs: dict[tuple[str, ...], list[Run]] = {}
    for run in runs:
        jobs.setdefault(run.files, []).append(run)
    return jobs


def tables(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """A table for each kind of scaling that a study in one launch measured; else one of the runs
    that say their size."""
    studies = [
        {"kind": kind, "of": "s a pass", "rows": [row.values for row in rows], "left_out": []}
        for kind, rows in study_table.by_kind(runs)
        if rows
    ]
    sizes = comparable(runs)
    return studies or ([{"kind": kind_of(runs), **size_table.plain(sizes)}] if sizes else [])


def comparable(runs: Sequence[Run]) -> size_table.Sizes | None:
    """Runs on at least two sizes; of one whose output does not tell its size, nothing is said."""
    sized = [run for run in runs if measure.workers(run)]
    if not 2 <= len({measure.workers(run) for run in sized}) <= MOST_SIZES:
        return None
    sizes = size_table.comparable(sized)
    return sizes if len(sizes.by_size) > 1 else None


def kind_of(runs: Sequence[Run]) -> str | None:
    """Return the kind of scaling that the records name; None where none does."""
    kinds = {run.header.scaling for run in runs} - {None, "serial"}
    return kinds.pop() if len(kinds) == 1 else None


def texts(runs: Sequence[Run]) -> list[str]:
    """The same for people: a table for each job of several sizes."""
    sizes_of_files = {files: comparable(job) for files, job in jobs_of(runs).items()}
    return [
        f"{', '.join(files)}\n{size_table.text(sizes)}"
        for files, sizes in sizes_of_files.items()
        if sizes
    ]
