"""Make the table of runs on several sizes, for `cluster scale` and `autograder read`.

A size is a number of workers. The table compares the median epoch time if it is known. Otherwise it
compares the total training time if all runs trained for the same number of epochs, and samples per
second if they did not.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from autograder.codes import Outcome
from autograder.measuring import measure
from autograder.measuring.interval import Measure, NotMeasured, stated
from autograder.measuring.study_table import HEAD, Row, line, rows_of
from autograder.records import Run


@dataclass(frozen=True, slots=True)
class Compared:
    """The quantity to compare: seconds, where less is better, or a rate."""

    of: Callable[[Run], Measure]
    head: str
    rate: bool = False


def positive(name: str, what: str, unit: str) -> Callable[[Run], Measure]:
    """Return a function that measures one number for the whole run. The number must be positive."""

    def value(run: Run) -> Measure:
        found = stated(getattr(run, name), what, unit)
        if found.low <= 0:
            raise NotMeasured(f"the run says {found.value:g} {unit}", where=found.where)
        return found

    return value


EPOCHS = Compared(measure.epoch_time, "s per epoch")
WHOLE = Compared(positive("total_seconds", "total training time", "s"), "s in all")
RATES = Compared(positive("throughput", "epoch times", "samples/s"), "samples/s", rate=True)


@dataclass(slots=True)
class Sizes:
    """The values of comparable runs by size, and the reasons why others were left out."""

    of: Compared
    weak: bool
    by_size: dict[int, list[Measure]] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)


def comparable(runs: Sequence[Run]) -> Sizes:
    """Return the values by size, smallest first, and the reasons why runs were left out.

    A run without a size counts as a run on one worker.
    """
    ordered = sorted(runs, key=lambda run: measure.workers(run) or 0)
    done = [run for run in ordered if is_over(run)]
    sizes = Sizes(compared(done), ordered[0].header.scaling == "weak")
    for run in ordered:
        files = ", ".join(run.files)
        try:
            if not is_over(run):
                raise NotMeasured(f"the run ended as {run.outcome}")
            value = sizes.of.of(run)
        except NotMeasured as missing:
            sizes.remarks.append(f"{files}: {missing.reason}")
            continue
        weak = "weak" if run.header.scaling == "weak" else None
        if differences := measure.not_comparable(done[0], run, weak):
            sizes.remarks.append(f"{files} is not comparable: {'; '.join(differences)}")
        else:
            sizes.by_size.setdefault(measure.workers(run) or 1, []).append(value)
    return sizes


def is_over(run: Run) -> bool:
    """Return whether the run's times count.

    The times count if the run finished, or if no line shows that epochs are missing.
    """
    return run.outcome == Outcome.COMPLETED or (
        run.outcome == Outcome.UNKNOWN and len(run.epochs) > 1
    )


def compared(runs: Sequence[Run]) -> Compared:
    """Return the most detailed quantity that can be compared between the runs."""
    if any(epoch.seconds is not None for run in runs for epoch in run.epochs):
        return EPOCHS
    counts = {len(run.epochs) for run in runs}
    if len(counts) == 1 and 0 not in counts and all(run.total_seconds for run in runs):
        return WHOLE
    return RATES if runs and all(run.throughput for run in runs) else EPOCHS


def rows(sizes: Sizes) -> list[Row]:
    """Return one row per size, with the median over its repeats."""
    return rows_of(sizes.by_size, sizes.weak, sizes.of.rate) if sizes.by_size else []


def text(sizes: Sizes) -> str:
    """Return the table as text, followed by the runs that were left out."""
    table = [row.cells for row in rows(sizes)]
    if table:
        table.insert(0, [sizes.of.head if name == "seconds" else name for name in HEAD])
    return "\n".join([*map(line, table), *sizes.remarks])


def plain(sizes: Sizes) -> dict[str, Any]:
    """Return the table as data for scripts, with the column names of `study_table`."""
    table = [row.values for row in rows(sizes)]
    if sizes.of.rate:
        table = [{"rate" if key == "seconds" else key: row[key] for key in row} for row in table]
    return {"of": sizes.of.head, "rows": table, "left_out": sizes.remarks}
