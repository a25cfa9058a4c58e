"""Measure a run, and a run relative to its baseline. Notebooks use the same functions.

Each function returns a Measure with the interval of the true value, or raises NotMeasured.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from autograder.measuring.interval import (
    Measure,
    NotMeasured,
    exact,
    measured_or_none,
    middle,
    printed,
    ratio,
    scaled,
)
from autograder.measuring.record_facts import (
    in_header,
    known_workers,
    last_epoch,
    whole,
    workers as workers,
)
from autograder.records import Epoch, Run


def epoch_time(run: Run) -> Measure:
    """Return the median time of the epochs after the first.

    The first epoch includes compilation, allocation and reading files that are not cached.
    """
    if not any(epoch.seconds for epoch in run.epochs):
        raise NotMeasured("the output has no epoch times", "print the seconds of each epoch")
    if len(run.epochs) < 2:
        raise NotMeasured(
            "there is only one epoch, and the first epoch includes the start-up",
            "train at least 3 epochs",
            [epoch.where for epoch in run.epochs],
        )
    values = [seconds_of(epoch) for epoch in run.epochs[1:]]
    first, last = run.epochs[1].number, run.epochs[-1].number
    several = len(values) > 1
    basis = f"median of epochs {first} to {last}" if several else f"one sample, epoch {first}"
    return middle(values, basis)


def seconds_of(epoch: Epoch) -> Measure:
    """Return an epoch's time, which must be above 0 even after rounding."""
    if epoch.seconds is None:
        raise NotMeasured(f"epoch {epoch.number} has no usable time", where=[epoch.where])
    value = printed(epoch.seconds, "s")
    if value.low <= 0:
        reason = f"epoch {epoch.number} took {value.value:g} s as printed, which cannot be used"
        raise NotMeasured(reason, "print seconds with decimals", value.where)
    return value


def same_in_each_epoch(run: Run, name: str, unit: str) -> int:
    """Return a count that must be the same in every epoch that reports it."""
    counts = {getattr(epoch, name) for epoch in run.epochs} - {None}
    if not counts:
        raise NotMeasured(f"the output does not report the number of {unit} per epoch")
    if len(counts) > 1:
        raise NotMeasured(f"the number of {unit} differs between epochs: {sorted(counts)}")
    [count] = counts
    if not whole(count):
        raise NotMeasured(f"the number of {unit} per epoch is not a positive number")
    return count


def unique_samples(run: Run) -> Measure:
    """Return the number of distinct training samples per epoch, over all ranks."""
    count = same_in_each_epoch(run, "unique_samples", "different samples")
    return exact(count, "samples", [run.epochs[0].where])


def throughput(run: Run) -> Measure:
    """Return unique training samples per second; padding and repeated samples do not count."""
    seconds, samples = epoch_time(run), unique_samples(run)
    rate = ratio(samples, seconds, "samples/s")
    return replace(rate, where=seconds.where, basis=seconds.basis)


def time_to_accuracy(run: Run, target: float) -> Measure:
    """Return the seconds until validation accuracy reaches the target, for at least two epochs."""
    reached = [bool(e.val_accuracy and e.val_accuracy.value >= target) for e in run.epochs]
    total = 0.0
    for index, epoch in enumerate(run.epochs):
        if epoch.seconds is None or epoch.val_accuracy is None:
            raise NotMeasured("needs the seconds and validation accuracy of every epoch")
        total += seconds_of(epoch).value
        if reached[index : index + 2] == [True, True]:
            return exact(total, "s", [epoch.where], f"after epoch {epoch.number}")
    raise NotMeasured(f"validation accuracy did not reach {target:g} and stay there")


def epochs(run: Run) -> Measure:
    if run.sparse:
        hint = "print a line at the end of each"
        raise NotMeasured("the output does not show how many epochs ended", hint)
    return exact(len(run.epochs), "epochs", last_epoch(run))


def extreme(choose: Callable, run: Run) -> Measure:
    """Return the time of the shortest or longest epoch after the first."""
    epoch_time(run)  # raises NotMeasured if any of these epochs has no usable time
    return choose(map(seconds_of, run.epochs[1:]), key=lambda seconds: seconds.value)


# --- steps ----------------------------------------------------------------------------------


def read_most(run: Run) -> Measure:
    """Return the highest number of times that any sample was read in one epoch."""
    return exact(max(of_each_epoch(run, "read_most")), "times", last_epoch(run))


def reading_orders(run: Run) -> Measure:
    """Return the number of different orders in which the epochs read the samples."""
    return exact(len({*of_each_epoch(run, "read_order")}), "orders", last_epoch(run))


def of_each_epoch(run: Run, fact: str) -> list[Any]:
    facts = [getattr(epoch, fact) for epoch in run.epochs]
    if not facts or None in facts:
        raise NotMeasured("the output does not report which samples the steps read")
    return facts


def steps(run: Run) -> Measure:
    return exact(same_in_each_epoch(run, "steps", "steps"), "steps", last_epoch(run))


def steps_expected(run: Run) -> Measure:
    """Return ceil(unique samples / global batch)."""
    samples, batch = unique_samples(run), in_header("global_batch")(run)
    if batch.value < 1:
        raise NotMeasured(f"`global_batch` is {batch.value:g}")
    return exact(math.ceil(samples.value / batch.value), "steps", basis="samples / global batch")


def last_rate(run: Run) -> Measure:
    rate = run.epochs[-1].lr if run.epochs else None
    if rate is None:
        raise NotMeasured("the epochs do not report their learning rate")
    return exact(rate, "", last_epoch(run), "as the last epoch used it")


# --- what was learnt ------------------------------------------------------------------------


def reported(name: str, what: str, epoch: int | None = None) -> Callable[[Run], Measure]:
    """Return a function that measures a loss or accuracy of a run, or of its epoch 0 or -1."""

    def value(run: Run) -> Measure:
        source = run if epoch is None else run.epochs[epoch] if run.epochs else None
        number = getattr(source, name, None)
        if number is None:
            hint = f"print a line such as `{what.capitalize()}: 0.97`, with a plain number"
            raise NotMeasured(f"the output has no {what}", hint)
        measured = printed(number)
        if name.endswith("accuracy") and not 0 <= measured.value <= 1:
            reason = f"the {what} is {measured.value:g}, not between 0 and 1"
            raise NotMeasured(reason, where=measured.where)
        return measured

    return value


test_accuracy = reported("test_accuracy", "test accuracy")


def a_worker(name: str) -> Callable[[Run], Measure]:
    """Return a function that divides a header value by the number of workers."""
    return lambda run: scaled(in_header(name)(run), 1 / known_workers(run))


# --- two runs -------------------------------------------------------------------------------

WORK = ("model", "params", "image_size", "precision", "lesson")
HARDWARE = ("device", "threads")
BATCH = {"strong": ("global_batch",), "epoch": ("local_batch",), "weak": ("local_batch",)}


def not_comparable(first: Run, other: Run, scaling: str | None = None) -> list[str]:
    """Return the differences in work and hardware that make the seconds of two runs incomparable.

    Each kind of scaling also keeps one of the batch sizes constant.
    """

    def unlike(facts: Sequence[str]) -> list[str]:
        pairs = [(fact, first.header.get(fact), other.header.get(fact)) for fact in facts]
        return [
            f"{fact} is {a!s:.60} in one and {b!s:.60} in the other"
            for fact, a, b in pairs
            if a is not None and b is not None and a != b
        ]

    differences = unlike(WORK)
    samples, more = (measured_or_none(unique_samples, run) for run in (first, other))
    few, many = (workers(run) if scaling == "weak" else 1 for run in (first, other))
    if samples and more and few and many and samples.value * many != more.value * few:
        counts = f"{samples.value:.0f} different samples per epoch, the other {more.value:.0f}"
        on_both = f", on {few} and {many} workers" if scaling == "weak" else ""
        differences.append(f"one reads {counts}{on_both}")
    name, other_name = first.header.dataset.name, other.header.dataset.name
    if name and other_name and name != other_name:
        differences.append(f"one trains on {name:.40}, the other on {other_name:.40}")
    return differences + unlike(BATCH.get(scaling or "", ())) + unlike(HARDWARE)


def speedup(base: Run, run: Run, scaling: str | None = None) -> Measure:
    """Return the base run's epoch time divided by this run's, for equal work and hardware."""
    if reasons := not_comparable(base, run, scaling):
        reason = "not the same work on the same hardware: " + "; ".join(reasons)
        hint = "run the baseline with the same program, data, batch and device"
        raise NotMeasured(reason, hint)
    try:
        slow = epoch_time(base)
    except NotMeasured as missing:
        raise NotMeasured(f"baseline: {missing.reason}", missing.try_, missing.where) from None
    return ratio(slow, epoch_time(run))


def efficiency(base: Run, run: Run, scaling: str | None = None) -> Measure:
    """Return the speedup divided by the growth in workers; for weak scaling, the speedup."""
    few, many = known_workers(base), known_workers(run)
    gain = speedup(base, run, scaling)
    return gain if scaling == "weak" else scaled(gain, few / many)
