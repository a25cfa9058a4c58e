"""Findings of evidence: what cannot be true, and what is only odd. A person looks at both."""

from collections.abc import Sequence

from autograder.records import Run, Where
from autograder.verdict import Finding


def contradiction(title: str, expected: str, found: str, where: Sequence[Where | None]) -> Finding:
    places = tuple(w for w in where if w)[:4]
    advice = "hand in the output as the job wrote it, or run the job again"
    return Finding("evidence", title, expected, found, places, advice, look=True, contradicts=True)


def odd(title: str, expected: str, found: str, where: Sequence[Where | None], try_: str) -> Finding:
    places = tuple(w for w in where if w)[:4]
    return Finding("evidence", title, expected, found, places, try_, look=True)


def rank_lines(run: Run) -> list[Where | None]:
    return [rank.where for rank in run.ranks]
