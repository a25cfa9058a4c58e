"""Find the runs that a rubric judges together: for a scaling study or for a report's tables."""

from collections.abc import Iterator

from autograder.judging.hand_in import HandIn
from autograder.judging.runs_that_count import finished
from autograder.measuring.metrics import metric_named
from autograder.records import Run
from autograder.settings.rubric_schema import RubricCheck


def runs_compared(hand_in: HandIn) -> list[Run]:
    """Return all finished runs that a check judges together."""
    names = {name for check in hand_in.rubric.checks for name in names_compared(check)}
    return [run for name in sorted(names) for run in finished(hand_in, name)]


def names_compared(check: RubricCheck) -> Iterator[str]:
    for condition in check.require:
        if metric_named(condition.metric).all_runs:
            yield from condition.of
    if check.report:
        yield from (*check.report.tables, *check.report.quotes.values())
