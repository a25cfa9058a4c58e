"""Check a lane's values against each other once all lines are read.

Drop values that may belong to another epoch, and times that do not measure an epoch.
"""

from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from autograder.reading import stamps
from autograder.reading.lanes import Lane
from autograder.records import Number, Problem, Where

FEW = 3  # minimum epochs to see whether seconds add up from epoch to epoch
NEAR = 0.25
STEPS = "steps"  # the format of runs with steps and without epochs


@dataclass(slots=True)
class Settled:
    """The facts of a lane, except its epochs."""

    sparse: bool = False  # whether only some epochs were printed
    done: float | None = None  # if so, the minimum number of epochs
    measured: bool = False  # whether the seconds are differences of the log's timestamps
    problems: list[Problem] = field(default_factory=list)


def settle(lane: Lane, file: str) -> Settled:
    """Check the lane's numbers against each other, and drop those that do not fit."""
    settled = Settled()
    numbers = sorted(lane.epochs)
    if lane.heading and numbers:
        settle_last(lane, numbers)
    for epoch in lane.epochs.values():
        if epoch.rates and "throughput" not in epoch.numbers:
            epoch.numbers["throughput"] = middle(epoch.rates)
    if lane.format == STEPS:
        return settled
    apart = [after - before for before, after in pairwise(numbers)]
    settled.sparse = len(apart) > 0 and min(apart) > 1
    if settled.sparse:
        settled.done = float(numbers[-1]) if lane.base else None
        drop_seconds(lane)  # the number of epochs that they cover is unknown
        return settled
    take_differences(lane, numbers)
    settle_seconds(lane, numbers, file, settled)
    return settled


def settle_last(lane: Lane, numbers: list[int]) -> None:
    """Drop values after the last epoch that may belong to a test or to the whole run.

    A value in a line that names no epoch counts only if the previous epoch had it too. If the last
    epoch has all of the previous epoch's values, it is complete.
    """
    last = lane.epochs[numbers[-1]]
    before = lane.epochs[numbers[-2]] if len(numbers) > 1 else None
    for name in last.loose:
        known = name in before.numbers if before else not name.startswith("val_")
        if not known:
            last.numbers.pop(name, None)
    if before and before.numbers and before.numbers.keys() <= last.numbers.keys():
        last.whole = True


def middle(rates: list[Number]) -> Number:
    """Return the median without the first value, which includes the warm-up."""
    later = rates[1:] or rates
    values = sorted(later, key=lambda rate: rate.value)
    value = median(rate.value for rate in later)
    near = values[len(values) // 2]
    return Number(value, near.half_width, later[-1].where)


def take_differences(lane: Lane, numbers: list[int]) -> None:
    """Replace seconds since the start by their differences.

    In each epoch, such seconds increase by roughly the first epoch's value.
    """
    so_far = [lane.epochs[number].numbers.get("seconds") for number in numbers]
    values = [number for number in so_far if number is not None]
    if len(values) < FEW or len(values) < len(so_far) or values[0].value <= 0:
        return
    first = values[0].value
    if any(abs(n.value - k * first) > NEAR * k * first for k, n in enumerate(values, 1)):
        return
    for place in range(len(numbers) - 1, 0, -1):
        now, before = values[place], values[place - 1]
        apart = Number(
            float(f"{now.value - before.value:.9g}"), now.half_width + before.half_width, now.where
        )
        lane.epochs[numbers[place]].numbers["seconds"] = apart


def settle_seconds(lane: Lane, numbers: list[int], file: str, settled: Settled) -> None:
    """Use the printed seconds, or those from the log's timestamps. Drop them if the two differ."""
    measured = by_stamps(lane, numbers, file)
    pairs = [
        (said.value, measured[number].value)
        for number in numbers
        if (said := lane.epochs[number].numbers.get("seconds")) and number in measured
    ]
    if len(pairs) >= 2 and stamps.disagree([p[0] for p in pairs[1:]], [p[1] for p in pairs[1:]]):
        printed, went_by = median(p[0] for p in pairs[1:]), median(p[1] for p in pairs[1:])
        reason = f"the printed seconds ({printed:g}) are not those of an epoch: in the log's own "
        reason += f"times, {went_by:g} passed"
        where = Where(file, lane.epochs[numbers[-1]].line)
        settled.problems.append(Problem(where, "seconds", reason))
        drop_seconds(lane)
    elif not any("seconds" in epoch.numbers for epoch in lane.epochs.values()):
        settled.measured = bool(measured)
        for number, seconds in measured.items():
            lane.epochs[number].numbers["seconds"] = seconds


def drop_seconds(lane: Lane) -> None:
    for epoch in lane.epochs.values():
        epoch.numbers.pop("seconds", None)


def by_stamps(lane: Lane, numbers: list[int], file: str) -> dict[int, Number]:
    """Return the seconds of epochs, from the log's timestamps of their starts or results."""
    if len(numbers) < 2 or numbers[-1] - numbers[0] != len(numbers) - 1:
        return {}
    epochs = [lane.epochs[number] for number in numbers]
    opened, told = ([getattr(epoch, kind) for epoch in epochs] for kind in ("opened", "told"))
    for stamps_, places in ((opened, numbers), (told, numbers[1:])):
        moments = [moment for moment in stamps_ if moment is not None]
        if len(moments) < len(epochs):
            continue
        apart = stamps.differences(moments)
        if apart is None:
            continue
        resolution = moments[0].resolution
        if median(apart) < max(2 * resolution, 0.5):
            return {}  # printed all at once, or too coarse
        return {
            number: Number(round(seconds, 6), resolution, Where(file, lane.epochs[number].line))
            for number, seconds in zip(places, apart, strict=False)
        }
    return {}
