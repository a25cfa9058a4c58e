"""From what single lines say to runs: epochs in order, ranks and runs told apart.

A lane is one process's sequence of epochs. Lines of several ranks run through each other and runs
follow each other in one file, and both look like an epoch that comes twice. So a line goes to the
latest lane into which it fits, or else opens a new one; lanes that overlap in the file are ranks
of one run, lanes that follow each other are runs.
"""

import math
from bisect import bisect_right, insort
from dataclasses import dataclass, field, replace
from typing import Any

from autograder.reading.formats.reader import ACCURACIES, EPOCH_NUMBERS, Reader, Said
from autograder.reading.printed_numbers import scaled
from autograder.records import Epoch, Number, Problem, Run, Where

MOST_LANES = 5_000  # in one file; what comes after is left out, and said so
MOST_EPOCHS = 20_000  # in all lanes of a file
LOOK_BACK = 130  # lanes that a line may belong to: more ranks than this print with labels
MOST_PROBLEMS = 50


@dataclass(slots=True)
class Lane:
    format: str
    label: int | None
    first: int  # line numbers
    last: int
    current: int = 0
    base: int = 1  # the number of the first epoch as printed: 0 or 1
    of: int | None = None
    progress: float | None = None
    scaled: bool = False
    epochs: dict[int, dict[Any, Any]] = field(default_factory=dict)
    run: dict[str, Any] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


@dataclass(slots=True)
class Lanes:
    """All lanes of one file."""

    file: str
    # By format and label those that a line may still belong to, the latest last; and the others.
    lanes: dict[tuple[str, int | None], list[Lane]] = field(default_factory=dict)
    finished: list[Lane] = field(default_factory=list)
    count: int = 0
    epochs: int = 0
    left_out: int = 0


def take(all_: Lanes, reader: Reader, label: int | None, line: int, said: Said) -> None:
    """Put what a reader understood into the lane that it belongs to."""
    lanes = all_.lanes.setdefault((reader.after or reader.format, label), [])
    number = said.get("epoch")
    back = 2 if all_.left_out else LOOK_BACK
    lane = next((lane for lane in lanes[: -back - 1 : -1] if fits(lane, number, said)), None)
    if lane is None:
        if number is None:
            return  # a result without an epoch: an evaluation outside of training
        if all_.count >= MOST_LANES or all_.epochs >= MOST_EPOCHS:
            all_.left_out += 1
            return
        all_.count += 1
        lane = Lane(reader.format, label, line, line, base=0 if number == 0 else 1)
        lanes.append(lane)
    elif lanes[-1] is not lane:  # latest last: ranks take turns, so the search stays short
        lanes.remove(lane)
        lanes.append(lane)
    lane.last = line
    if "opens" not in said:
        lane.format = reader.format
    at = lane.current if number is None else number + 1 - lane.base
    epoch = lane.epochs.get(at)
    if epoch is None:
        if all_.epochs >= MOST_EPOCHS:
            all_.left_out += 1
            return
        all_.epochs += 1
        epoch = lane.epochs[at] = {"line": line}
    add(all_.file, lane, epoch, at, line, said)
    if lane.of and lane.current >= lane.of and epoch.get("closed"):
        lanes.remove(lane)
        all_.finished.append(lane)


def fits(lane: Lane, number: int | None, said: Said) -> bool:
    at = lane.current if number is None else number + 1 - lane.base
    if at > lane.current:
        return True
    epoch = lane.epochs.get(at)
    if epoch is None or at < 1:
        return False
    if said.get("opens"):
        return not (epoch.keys() - {"line"})
    if "step" in said:
        before = epoch.get(("step", said.get("part")))
        if at < lane.current or epoch.get("closed"):
            return False
        return (
            before is None
            or said["step"] > before
            or (said["step"] == before and "redraws" in said)
        )
    if said.get("closes") and (epoch.get("closed") or at < lane.current):
        return False
    return not any(
        name in epoch for name in EPOCH_NUMBERS if name in said and not is_running(epoch)
    )


def is_running(epoch: dict[Any, Any]) -> bool:
    """The epoch's values so far come from lines within it: the result may replace them."""
    return not epoch.get("closed") and any(isinstance(key, tuple) for key in epoch)


def add(file: str, lane: Lane, epoch: dict[Any, Any], at: int, line: int, said: Said) -> None:
    where = Where(file, line)
    if at > lane.current:
        before = lane.epochs.get(lane.current)
        if before is not None and len(before) > 1:
            before["whole"] = True
        lane.current = at
    lane.scaled = lane.scaled or "scaled" in said
    if "of" in said:
        lane.of = said["of"] + (1 - lane.base if "opens" in said else 0)  # "0/24" is of 25
    if "progress" in said:
        lane.progress = said["progress"]
    if "step" in said:
        epoch["step", said.get("part")] = said["step"]
    if said.get("opens"):
        epoch["opened"] = True
    if said.get("closes"):
        epoch["closed"] = epoch["whole"] = True
    if said.get("whole"):
        epoch["whole"] = True
    if "steps" in said:
        epoch["steps"] = said["steps"]
    for name in EPOCH_NUMBERS:
        if name in said:
            number = said[name]
            if number is None and len(lane.problems) < MOST_PROBLEMS:
                reason = (
                    f"{name.replace('_', ' ')} of epoch {at} is no number: the training diverged"
                )
                lane.problems.append(Problem(where, name, reason))
            epoch[name] = number and Number(number.value, number.half_width, where)
            epoch["line"] = line
    if not ("step" in said or "opens" in said or "part" in said):
        epoch["whole"] = True
    for name in RUN_NAMES:
        if said.get(name) is not None:
            lane.run[name] = placed(said[name], where)


RUN_NAMES = (
    "test_accuracy",
    "test_loss",
    "total_seconds",
    "run_throughput",
    "workers",
    "done",
    "early",
)


def placed(value: Any, where: Where) -> Any:
    return Number(value.value, value.half_width, where) if isinstance(value, Number) else value


def clusters(all_: Lanes) -> list[list[Lane]]:
    """The lanes of each run: those that overlap in the file, or that labels tell to be ranks."""
    found: list[list[Lane]] = []
    by_format: dict[str, list[Lane]] = {}
    for lane in all_.finished:
        by_format.setdefault(lane.format, []).append(lane)
    for lanes in all_.lanes.values():
        for lane in lanes:
            by_format.setdefault(lane.format, []).append(lane)
    for lanes in by_format.values():
        last, labels = -1, set[int | None]()
        for lane in sorted(lanes, key=lambda lane: (lane.first, lane.last)):
            joins = lane.first <= last or (lane.label is not None and lane.label not in labels)
            if not found or last < 0 or not joins:
                found.append([])
                last, labels = -1, set()
            found[-1].append(lane)
            last = max(last, lane.last)
            labels.add(lane.label)
    return found


def chosen(all_: Lanes, formats: list[str]) -> list[list[Lane]]:
    """Of runs that stand in the same lines, the one that says more, by the order of formats."""
    order = {name: place for place, name in enumerate(formats)}
    ranked = sorted(clusters(all_), key=lambda lanes: (order.get(lanes[0].format, 99), span(lanes)))
    told = [lanes for lanes in ranked if has_results(lanes)]
    kept: list[list[Lane]] = []
    taken: list[tuple[int, int]] = []  # lines of the kept runs, in order
    for lanes in told:
        weak = lanes[0].format == "plain" and any(one[0].format != "plain" for one in kept)
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


def overlaps(spans: list[tuple[int, int]], one: tuple[int, int]) -> bool:
    """Whether a span shares a line with one of the others, which are in order and apart."""
    place = bisect_right(spans, (one[1], math.inf))
    return place > 0 and spans[place - 1][1] >= one[0]


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
    return any(
        name in epoch for lane in lanes for epoch in lane.epochs.values() for name in EPOCH_NUMBERS
    )


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
        if lane.epochs[number].get("whole"):
            epochs.append(epoch)
        else:
            unfinished = epoch
    done = lane.progress if lane.progress is not None else None
    expected = None if lane.of is None else lane.current >= lane.of and unfinished is None
    if lane.progress is not None:
        expected = bool(lane.run.get("done"))
    elif unfinished is not None:
        expected = False
    run = Run(
        files=(file,),
        format=lane.format,
        outcome="incomplete",
        workers=lane.run.get("workers") or (len(lanes) if len(lanes) > 1 else None),
        epochs=tuple(epochs),
        problems=tuple(problems),
        unfinished=unfinished,
        epochs_done=done,
    )
    return run, expected


def percent_scales(lane: Lane) -> dict[str, float]:
    """A kind of accuracy that anywhere in the run is above 1 is printed in percent."""
    scales = {}
    for name in ("train_accuracy", "val_accuracy"):
        values = (epoch.get(name) for epoch in lane.epochs.values())
        above = any(value is not None and value.value > 1 for value in values)
        scales[name] = 0.01 if above and not lane.scaled else 1.0
    return scales


def to_epoch(
    file: str, number: int, said: dict[Any, Any], scale: dict[str, float], problems: list[Problem]
) -> Epoch:
    values: dict[str, Any] = {}
    for name in EPOCH_NUMBERS:
        value = said.get(name)
        if value is not None and name in scale:
            times = scale[name]
            value = replace(
                value, value=scaled(value.value, times), half_width=value.half_width * times
            )
        values[name] = checked(name, value, problems)
    return Epoch(number, steps=said.get("steps"), where=Where(file, said["line"]), **values)


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
