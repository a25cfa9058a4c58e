"""Make runs from lanes: choose between formats, count ranks, and drop values that cannot be."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from autograder.codes import Outcome
from autograder.notes import Note
from autograder.reading.lanes import MOST_PROBLEMS, Lane, Lanes
from autograder.reading.line_facts import ACCURACIES, EPOCH_NUMBERS, EpochNumber, make_problem
from autograder.reading.printed_numbers import scaled
from autograder.records import Epoch, Number, Run, Where


def runs_in(all_: Lanes, formats: Sequence[str]) -> list[list[Lane]]:
    """Return the lanes of each run. Where several formats read the same lines, the first counts.

    A beginning without a result is a run, unless another format understood what followed.
    """
    order = {name: place for place, name in enumerate(formats)}
    every = [run for format_ in order for run in by_run(all_, format_)]
    spans = [(span(run), any(map(has_results, run)), run) for run in every]
    understood = [here for here, results, _ in spans if results]
    mixed = (row.lanes for row in all_.rows.values() if row.seems_mixed())
    understood += [(lane.first, lane.last) for lanes in mixed for lane in lanes]
    chosen: dict[tuple[int, int], list[Lane]] = {}
    for here, results, run in sorted(spans, key=lambda item: not item[1]):
        if not overlaps(here, chosen) and (results or not overlaps(here, understood)):
            chosen[here] = run
    return [chosen[here] for here in sorted(chosen)]


def overlaps(here: tuple[int, int], others: Iterable[tuple[int, int]]) -> bool:
    return any(here[0] <= last and first <= here[1] for first, last in others)


def by_run(all_: Lanes, format_: str) -> Iterator[list[Lane]]:
    """Yield the lanes of each run in one format: a rank's second lane is of another run."""
    rows = [
        row for (name, _), row in all_.rows.items() if name == format_ and not row.seems_mixed()
    ]
    lanes = sorted((lane for row in rows for lane in row.lanes), key=lambda lane: lane.first)
    run: list[Lane] = []
    for lane in lanes:
        if run and (lane.label is None or lane.label in {other.label for other in run}):
            yield run
            run = []
        run.append(lane)
    if run:
        yield run


def has_results(lane: Lane) -> bool:
    return any(epoch.numbers for epoch in lane.epochs.values())


def span(lanes: list[Lane]) -> tuple[int, int]:
    return min(lane.first for lane in lanes), max(lane.last for lane in lanes)


def first_rank(lanes: list[Lane]) -> Lane:
    return min(lanes, key=lambda lane: -1 if lane.label is None else lane.label)


def ranks_among(lanes: list[Lane]) -> int | None:
    """Return the number of ranks if labels count them, and all printed as many epochs."""
    labels = sorted(lane.label for lane in lanes if lane.label is not None)
    epochs = {len(lane.epochs) for lane in lanes}
    complete = len(lanes) > 1 and labels == list(range(len(lanes))) and len(epochs) == 1
    return len(labels) if complete else None


def to_run(file: str, lanes: list[Lane]) -> Run:
    """Return the first rank's run from these lanes."""
    lane = first_rank(lanes)
    numbers, problems = sorted(lane.epochs), list(lane.problems)
    scale_percentages(lane)
    sparse = min((after - before for before, after in pairwise(numbers)), default=numbers[0]) > 1
    times = [time for at in numbers if (time := lane.epochs[at].numbers.get("seconds"))]
    longer = [after.value - before.value for before, after in pairwise(times)]
    if since_start := len(longer) > 1 and min(longer) > times[0].value / 4:
        reason = "the seconds grow with each epoch, so they may be times since the start"
        problems.append(make_problem(Where(file, lane.last), "seconds", reason))
    if sparse or since_start:  # sparse: the number of epochs that they cover is unknown
        for so_far in lane.epochs.values():
            so_far.numbers.pop("seconds", None)
    epochs, unfinished = [], None
    for at in numbers:
        so_far = lane.epochs[at]
        values: dict[str, Any] = {
            name: checked(name, so_far.numbers.get(name), problems) for name in EPOCH_NUMBERS
        }
        epoch = Epoch(at, steps=so_far.steps, where=Where(file, so_far.line), **values)
        if so_far.whole:
            epochs.append(epoch)
        else:
            unfinished = epoch
    return Run(
        files=(file,),
        format=lane.format,
        outcome=Outcome.INCOMPLETE,
        workers=ranks_among(lanes),
        epochs=tuple(epochs),
        problems=tuple(problems),
        unfinished=unfinished,
        sparse=sparse,
    )


def is_whole(lane: Lane) -> bool | None:
    """Return whether the lane has all its epochs, or None if the output does not show it.

    If no line ends an epoch, the last one may have ended with its last step.
    """
    if not lane.epochs[lane.current].whole:
        ends = any(epoch.opened or epoch.answered for epoch in lane.epochs.values())
        return False if ends or lane.of is None or lane.current < lane.of else None
    return None if lane.of is None else lane.current >= lane.of


def scale_percentages(lane: Lane) -> None:
    """Turn percentages into fractions: an accuracy above 1 anywhere means percentages."""
    names: tuple[EpochNumber, ...] = ("train_accuracy", "val_accuracy")
    for name in names if not lane.scaled else ():
        found = [(e, number) for e in lane.epochs.values() if (number := e.numbers.get(name))]
        if any(number.value > 1 for _, number in found):
            for epoch, number in found:
                value = scaled(number.value, 0.01)
                epoch.numbers[name] = Number(value, number.half_width * 0.01, number.where)


def checked(name: str, value: Number | None, problems: list[Note]) -> Number | None:
    """Return the value if it is valid for this name. Otherwise, add a problem and return None."""
    if value is None:
        return None
    if name in ACCURACIES and not 0 <= value.value <= 1:
        reason = f"{name.replace('_', ' ')} should be between 0 and 1, but is {value.value:g}"
    elif name in ("seconds", "throughput", "total_seconds") and value.value < 0:
        reason = f"{name} should be above 0, but is {value.value:g}"
    else:
        return value
    if value.where is not None and len(problems) < MOST_PROBLEMS:
        problems.append(make_problem(value.where, name, reason))
    return None
