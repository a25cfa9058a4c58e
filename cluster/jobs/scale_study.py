"""Tabulate a study within one launch for `cluster scale`, one table per kind of scaling."""

from collections.abc import Sequence

from autograder.measuring.study_table import HEAD, by_kind, line
from autograder.records import Run


def table(runs: Sequence[Run]) -> str:
    """Return the tables of the study's report; empty if no run has points."""
    return "\n\n".join(
        "\n".join([f"{kind} scaling", line(HEAD), *(line(row.cells) for row in rows)])
        for kind, rows in by_kind(runs)
    )
