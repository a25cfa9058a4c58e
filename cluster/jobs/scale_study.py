"""Tabulate a study within one launch for `cluster scale`, one table per kind of scaling."""

from collections.abc import Sequence

from autograder.measuring import study_table
from autograder.records import Run


def table(runs: Sequence[Run]) -> str:
    """Return the tables of the study's report; empty if no run has points."""
    return "\n\n".join(
        "\n".join([f"{kind} scaling", line(study_table.HEAD), *(line(row.cells) for row in rows)])
        for kind, rows in study_table.by_kind(runs)
    )


def line(cells: Sequence[str]) -> str:
    return " ".join(f"{cell:>10}" for cell in cells)
