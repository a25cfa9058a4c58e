"""Check values against each other once all lines are read, and drop those that do not fit.

Values of an epoch may belong to another epoch, and times may not measure what their names say.
"""

from dataclasses import replace
from itertools import pairwise
from statistics import median

from autograder.reading import stamps
from autograder.reading.formats.mllog import FORMAT as MLPERF
from autograder.reading.formats.plain.steps import FORMAT as STEPS
from autograder.reading.formats.record import FORMAT as RECORD
from autograder.reading.lanes import Lane
from autograder.records import Number, Problem, Run, Where

FEW = 3  # minimum epochs to see whether seconds add up from epoch to epoch
NEAR = 0.25
APART = 1.1  # totals of one run from several ranks differ by less than this factor
LEAST = 0.25  # minimum fraction of a training's time that its epochs take


def settle(lane: Lane, file: str) -> bool:
    """Check the lane's numbers against each other, and drop those that do not fit.

    Return whether its seconds are differences of the log's timestamps.
    """
    numbers = sorted(lane.epochs)
    if lane.heading and numbers:
        settle_last(lane, numbers)
    for epoch in lane.epochs.values():
        if epoch.rates and "throughput" not in epoch.numbers:
            epoch.numbers["throughput"] = middle(epoch.rates)
    if lane.format == STEPS:
        return False
    if is_sparse(lane):
        drop_seconds(lane)  # the number of epochs that they cover is unknown
        return False
    take_differences(lane, numbers)
    return settle_seconds(lane, numbers, file)


def is_sparse(lane: Lane) -> bool:
    """Return whether only some epochs were printed, such as every tenth."""
    apart = (after - before for before, after in pairwise(sorted(lane.epochs)))
    return min(apart, default=1) > 1


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


def settle_seconds(lane: Lane, numbers: list[int], file: str) -> bool:
    """Use the printed seconds, or those from the log's timestamps. Drop them if the two differ.

    Return whether the timestamps are used.
    """
    measured = by_stamps(lane, numbers, file)
    pairs = [
        (said.value, measured[number].value)
        for number in numbers
        if (said := lane.epochs[number].numbers.get("seconds")) and number in measured
    ]
    if len(pairs) > 1:
        printed = median(pair[0] for pair in pairs[1:])  # the first epoch includes the warm-up
        passed = median(pair[1] for pair in pairs[1:])
        if not 0.5 <= printed / max(passed, 1e-9) <= 1.1:
            reason = f"the printed seconds ({printed:g}) are not those of an epoch: in the log's "
            reason += f"own times, {passed:g} passed"
            where = Where(file, lane.epochs[numbers[-1]].line)
            lane.problems.append(Problem(where, "seconds", reason))
            drop_seconds(lane)
            return False
    if any("seconds" in epoch.numbers for epoch in lane.epochs.values()):
        return False
    for number, seconds in measured.items():
        lane.epochs[number].numbers["seconds"] = seconds
    return bool(measured)


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


def agreed(run: Run, totals: list[Number]) -> Run:
    """Return the run without impossible values. `totals` are all total times that it printed."""
    if run.format in (RECORD, MLPERF) or run.total_seconds is None:
        return run
    where = run.total_seconds.where or Where(run.files[0], 1)
    values = [number.value for number in totals]
    if values and max(values) > APART * min(values):
        reason = "the printed run times differ, so they are the times of parts of the run"
        return without(run, where, reason, total=True)
    total = run.total_seconds.value
    seconds = [epoch.seconds.value for epoch in run.epochs if epoch.seconds is not None]
    if len(seconds) < 2 or len(seconds) < len(run.epochs):
        return run
    if sum(seconds) > APART * total + 1:
        reason = f"{total:g} s are printed for the run, but {sum(seconds):g} s for its epochs"
        return without(run, where, reason, total=True, epochs=True)
    if sum(seconds) < LEAST * total and total > 60:
        reason = f"{sum(seconds):g} s are printed for the epochs, but the run took {total:g} s"
        return without(run, where, reason, epochs=True)
    return run


def without(run: Run, where: Where, reason: str, total: bool = False, epochs: bool = False) -> Run:
    return replace(
        run,
        total_seconds=None if total else run.total_seconds,
        epochs=tuple(replace(e, seconds=None) for e in run.epochs) if epochs else run.epochs,
        problems=(*run.problems, Problem(where, "seconds", reason)),
    )
