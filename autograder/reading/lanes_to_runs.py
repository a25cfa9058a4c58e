"""Build runs from lanes: decide which lanes are ranks of one run, and which format to trust."""

import math
from bisect import bisect_right, insort
from collections.abc import Iterable
from dataclasses import replace
from itertools import chain, groupby
from typing import Any

from autograder.codes import Outcome
from autograder.reading.formats.plain.steps import FORMAT as STEPS
from autograder.reading.lanes import MOST_PROBLEMS, Lane, Lanes
from autograder.reading.line_facts import ACCURACIES, EPOCH_NUMBERS, EpochNumber
from autograder.reading.printed_numbers import scaled
from autograder.reading.settle import is_sparse, settle
from autograder.records import Epoch, Number, Problem, Run, Where

ONCE: frozenset[EpochNumber] = frozenset(("seconds", "val_loss", "val_accuracy"))
WEAK = ("plain", STEPS)  # less trusted; steps do not count beside another format in the same file


def by_run(all_: Lanes) -> list[list[Lane]]:
    """Return the lanes of each run, which overlap in the file or are labelled with ranks."""
    every = [*all_.finished, *chain.from_iterable(all_.open.values())]
    runs: list[list[Lane]] = []
    last, labels = -1, set[int | None]()
    for lane in sorted(every, key=lambda lane: (lane.format, lane.first, lane.last)):
        joins = lane.first <= last or (lane.label is not None and lane.label not in labels)
        if not runs or lane.format != runs[-1][0].format or not joins:
            runs.append([])
            last, labels = -1, set()
        runs[-1].append(lane)
        last = max(last, lane.last)
        labels.add(lane.label)
    return runs


def chosen(all_: Lanes, formats: list[str], begins: list[int]) -> list[list[Lane]]:
    """Return the runs, but only one of them where several formats read the same lines.

    Runs with results come first, in the order of `formats`. `begins` contains the sorted line
    numbers at which programs begin.
    """
    order = {name: place for place, name in enumerate(formats)}
    ranked = sorted(by_run(all_), key=lambda lanes: (order.get(lanes[0].format, 99), span(lanes)))
    with_results = [lanes for lanes in ranked if has_results(lanes)]
    selected: list[list[Lane]] = []
    taken: list[tuple[int, int]] = []  # lines of the kept runs, sorted
    for format_, runs in groupby(with_results, key=lambda lanes: lanes[0].format):
        trusted = sorted(selected, key=span)  # runs of more trusted formats
        others = [span(lanes) for lanes in trusted]
        for lanes in runs:
            here = span(lanes)
            before = bisect_right(others, here)
            if format_ in WEAK and before and says_again(lanes[0], trusted[before - 1][0]):
                continue
            if format_ == STEPS and not apart(here, others, begins):
                continue
            if not overlaps(taken, here):
                insort(taken, here)
                selected.append(lanes)
    # A beginning without a result is a run, unless another format understood what followed.
    covered = joined(map(span, with_results))
    for lanes in ranked:
        if not has_results(lanes) and not overlaps(covered, span(lanes)):
            insort(covered, span(lanes))
            selected.append(lanes)
    return sorted(selected, key=span)


def apart(steps: tuple[int, int], others: list[tuple[int, int]], begins: list[int]) -> bool:
    """Return whether program starts separate these steps from the runs before and after them.

    Otherwise, the steps may be part of one of these runs, for example its validation.
    """
    place = bisect_right(others, steps)
    before, after = others[max(place - 1, 0) : place], others[place : place + 1]
    starts_anew = not before or next_of(begins, before[0][1], steps[0]) is not None
    return starts_anew and (not after or next_of(begins, steps[1], after[0][0]) is not None)


def next_of(lines: list[int], after: int, before: float) -> int | None:
    """Return the first of these sorted line numbers that is between `after` and `before`."""
    place = bisect_right(lines, after)
    return lines[place] if place < len(lines) and lines[place] < before else None


def says_again(lane: Lane, run: Lane) -> bool:
    """Return whether these lines only repeat the epochs of the run before them.

    Some programs print their history again at the end.
    """
    epochs = run.epochs
    pairs = [
        (number, epochs[at].numbers.get(name) if at in epochs else None)
        for at, epoch in lane.epochs.items()
        for name, number in epoch.numbers.items()
        if number is not None
    ]
    return bool(pairs) and all(
        other is not None
        and abs(number.value - other.value) <= 2 * (number.half_width + other.half_width)
        for number, other in pairs
    )


def overlaps(spans: list[tuple[int, int]], other: tuple[int, int]) -> bool:
    """Return whether a span shares a line with one of the sorted, disjoint spans."""
    first, last = other
    place = bisect_right(spans, (last, math.inf))
    return place > 0 and spans[place - 1][1] >= first


def joined(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the spans merged into sorted, disjoint spans."""
    whole: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if whole and first <= whole[-1][1]:
            whole[-1] = whole[-1][0], max(last, whole[-1][1])
        else:
            whole.append((first, last))
    return whole


def has_results(lanes: list[Lane]) -> bool:
    return any(epoch.numbers for lane in lanes for epoch in lane.epochs.values())


def span(lanes: list[Lane]) -> tuple[int, int]:
    return min(lane.first for lane in lanes), max(lane.last for lane in lanes)


def to_run(file: str, lanes: list[Lane]) -> tuple[Run, bool | None]:
    """Return the first rank's run from these lanes, and whether it has all its epochs.

    The second value is None if the output does not give the number of epochs.
    """
    lane = first_rank(lanes)
    timed_by_log = settle(lane, file)
    sparse, problems = is_sparse(lane), list(lane.problems)
    done = lane.progress
    if done is None and sparse and lane.base:
        done = float(max(lane.epochs))  # at least
    scale_percentages(lane)
    epochs, unfinished = [], None
    for at, so_far in sorted(lane.epochs.items()):
        values: dict[str, Any] = {
            name: checked(name, so_far.numbers.get(name), problems) for name in EPOCH_NUMBERS
        }
        epoch = Epoch(at, steps=so_far.steps, where=Where(file, so_far.line), **values)
        if so_far.whole:
            epochs.append(epoch)
        else:
            unfinished = epoch
    run = Run(
        files=(file,),
        format=lane.format,
        outcome=Outcome.INCOMPLETE,
        workers=lane.run.workers or ranks_among(lanes, lane),
        epochs=tuple(epochs),
        problems=tuple(problems),
        unfinished=unfinished,
        epochs_done=done,
        sparse=sparse,
        timed_by_log=timed_by_log,
    )
    return of_steps(run, lane) if lane.format == STEPS else (run, is_whole(lane, unfinished))


def first_rank(lanes: list[Lane]) -> Lane:
    """Return the first rank's lane.

    If all lanes may come from a single process, return the last lane.
    """
    return min(
        lanes,
        key=lambda lane: (
            lane.label if lane.label is not None else 0,
            -len(lane.epochs),
            -lane.last if said_once(lane) is None else 0,
        ),
    )


def ranks_among(lanes: list[Lane], first: Lane) -> int | None:
    """Return the number of ranks among the lanes.

    Without labels, a lane counts as a rank only if it has as many epochs as the first lane. Its
    once-per-epoch values must also have the same names. Starts that were cut off do not count as
    ranks. Nor do several lines that one program prints about an epoch. If the ranks' lines are
    mixed, the number is unknown.
    """
    similar = [
        lane
        for lane in lanes
        if lane.label is not None
        or (len(lane.epochs) == len(first.epochs) and lane.words == first.words)
    ]
    names = {said_once(lane) for lane in similar if lane.label is None}
    sure = len(names) <= 1 and None not in names
    return len(similar) if len(similar) > 1 and sure else None


def said_once(lane: Lane) -> frozenset[EpochNumber] | None:
    """Return the names of values that an unlabelled lane prints only once in its first epoch.

    Return None if the lane may print all of its values repeatedly: it has only a running loss and
    no validation, time, last step or heading.
    """
    epoch = lane.epochs[min(lane.epochs)]
    once = epoch.last_step or lane.heading or not ONCE.isdisjoint(epoch.numbers)
    return frozenset(epoch.numbers) if once else None


def of_steps(run: Run, lane: Lane) -> tuple[Run, bool | None]:
    """Return a run of steps without epochs, with its last values and its speed."""
    last = run.epochs[0] if run.epochs else run.unfinished
    run = replace(run, epochs=(), unfinished=last, throughput=last.throughput if last else None)
    if last is None or last.steps is None:
        return run, None
    done = max(lane.epochs[last.number].last_step.values(), default=0)
    return run, done >= last.steps - 1


def is_whole(lane: Lane, unfinished: Epoch | None) -> bool | None:
    """Return whether the lane has all its epochs, or None if their number is unknown."""
    if lane.progress is not None:
        return lane.run.done
    if unfinished is not None:
        return False
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


def checked(name: str, value: Number | None, problems: list[Problem]) -> Number | None:
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
        problems.append(Problem(value.where, name, reason))
    return None
