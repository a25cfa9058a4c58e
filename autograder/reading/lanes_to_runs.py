"""From lanes to runs: which lanes are ranks of one run, which of several formats to believe."""

import math
from bisect import bisect_right, insort
from typing import Any

from autograder.reading.lanes import MOST_PROBLEMS, EpochSoFar, Lane, Lanes
from autograder.reading.line_facts import ACCURACIES, EPOCH_NUMBERS, EpochNumber
from autograder.reading.printed_numbers import scaled
from autograder.records import Epoch, Number, Problem, Run, Where


def by_run(all_: Lanes) -> list[list[Lane]]:
    """The lanes of each run: those that overlap in the file, or that labels tell to be ranks."""
    runs: list[list[Lane]] = []
    by_format: dict[str, list[Lane]] = {}
    for lane in all_.finished:
        by_format.setdefault(lane.format, []).append(lane)
    for lanes in all_.open.values():
        for lane in lanes:
            by_format.setdefault(lane.format, []).append(lane)
    for lanes in by_format.values():
        last, labels = -1, set[int | None]()
        for lane in sorted(lanes, key=lambda lane: (lane.first, lane.last)):
            joins = lane.first <= last or (lane.label is not None and lane.label not in labels)
            if not runs or last < 0 or not joins:
                runs.append([])
                last, labels = -1, set()
            runs[-1].append(lane)
            last = max(last, lane.last)
            labels.add(lane.label)
    return runs


def chosen(all_: Lanes, formats: list[str]) -> list[list[Lane]]:
    """Of runs that stand in the same lines, the one that says more, by the order of formats."""
    order = {name: place for place, name in enumerate(formats)}
    ranked = sorted(by_run(all_), key=lambda lanes: (order.get(lanes[0].format, 99), span(lanes)))
    told = [lanes for lanes in ranked if has_results(lanes)]
    kept: list[list[Lane]] = []
    taken: list[tuple[int, int]] = []  # lines of the kept runs, in order
    for lanes in told:
        weak = lanes[0].format == "plain" and any(other[0].format != "plain" for other in kept)
        if not weak and not overlaps(taken, span(lanes)):
            insort(taken, span(lanes))
            kept.append(lanes)
    # A beginning without a result is a run unless another format understood what came of it.
    covered = joined([*taken, *map(span, told)])
    for lanes in ranked:
        if not has_results(lanes) and not overlaps(covered, span(lanes)):
            insort(covered, span(lanes))
            kept.append(lanes)
    return sorted(kept, key=span)


def overlaps(spans: list[tuple[int, int]], other: tuple[int, int]) -> bool:
    """Whether a span shares a line with one of those that are in order and apart."""
    first, last = other
    place = bisect_right(spans, (last, math.inf))
    return place > 0 and spans[place - 1][1] >= first


def joined(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same lines in spans that are in order and apart."""
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
    """The run of the first rank among the lanes, and whether all its epochs are there (None: the
    output does not say how many there should be)."""
    lane = min(
        lanes, key=lambda lane: (lane.label if lane.label is not None else 0, -len(lane.epochs))
    )
    problems = list(lane.problems)
    scale = percent_scales(lane)
    epochs, unfinished = [], None
    for number in sorted(lane.epochs):
        epoch = to_epoch(file, number, lane.epochs[number], scale, problems)
        if lane.epochs[number].whole:
            epochs.append(epoch)
        else:
            unfinished = epoch
    run = Run(
        files=(file,),
        format=lane.format,
        outcome="incomplete",
        workers=lane.run.workers or (len(lanes) if len(lanes) > 1 else None),
        epochs=tuple(epochs),
        problems=tuple(problems),
        unfinished=unfinished,
        epochs_done=lane.progress,
    )
    return run, is_whole(lane, unfinished)


def is_whole(lane: Lane, unfinished: Epoch | None) -> bool | None:
    """Whether all of a lane's epochs are there; None: it does not say how many there should be."""
    if lane.progress is not None:
        return lane.run.done
    if unfinished is not None:
        return False
    return None if lane.of is None else lane.current >= lane.of


def percent_scales(lane: Lane) -> dict[EpochNumber, float]:
    """A kind of accuracy that anywhere in the run is above 1 is printed in percent."""
    scales: dict[EpochNumber, float] = {}
    names: tuple[EpochNumber, ...] = ("train_accuracy", "val_accuracy")
    for name in names:
        values = (epoch.numbers.get(name) for epoch in lane.epochs.values())
        above = any(value is not None and value.value > 1 for value in values)
        scales[name] = 0.01 if above and not lane.scaled else 1.0
    return scales


def to_epoch(
    file: str,
    number: int,
    so_far: EpochSoFar,
    scales: dict[EpochNumber, float],
    problems: list[Problem],
) -> Epoch:
    values: dict[str, Any] = {}
    for name in EPOCH_NUMBERS:
        value = so_far.numbers.get(name)
        if value is not None and name in scales:
            times = scales[name]
            value = Number(scaled(value.value, times), value.half_width * times, value.where)
        values[name] = checked(name, value, problems)
    return Epoch(number, steps=so_far.steps, where=Where(file, so_far.line), **values)


def checked(name: str, value: Number | None, problems: list[Problem]) -> Number | None:
    """The number, if it can be one of its kind; else a problem."""
    if value is None:
        return None
    if name in ACCURACIES and not 0 <= value.value <= 1:
        reason = f"{name.replace('_', ' ')} should lie between 0 and 1 and is {value.value:g}"
    elif name in ("seconds", "throughput", "total_seconds") and value.value < 0:
        reason = f"{name} should be above 0 and is {value.value:g}"
    else:
        return value
    if value.where is not None and len(problems) < MOST_PROBLEMS:
        problems.append(Problem(value.where, name, reason))
    return None
