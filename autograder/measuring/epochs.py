"""Measure the epochs of a run: times, steps, losses and accuracies."""

import math
from collections.abc import Callable, Mapping
from typing import Any

from autograder.measuring import interval, measure
from autograder.measuring.interval import Measure, NotMeasured, exact, printed, stated
from autograder.measuring.record_facts import in_header, last_epoch
from autograder.records import Number, Read, Run


def epochs(run: Run) -> Measure:
    count = run.epochs_done if run.sparse else len(run.epochs)
    if count is None:
        raise NotMeasured("only some of the epochs were printed", "print every epoch")
    return exact(count, "epochs", last_epoch(run))


# --- times ----------------------------------------------------------------------------------


def extreme(choose: Callable) -> Callable[[Run], Measure]:
    """Return a function that measures the shortest or longest epoch after the first."""

    def value(run: Run) -> Measure:
        measure.epoch_time(run)
        times = (e.seconds for e in run.epochs[1:] if e.seconds is not None)
        return printed(choose(times, key=lambda seconds: seconds.value), "s")

    return value


def total_seconds(run: Run) -> Measure:
    if run.total_seconds is None:
        raise NotMeasured("the output does not report how long the run took")
    value = printed(run.total_seconds, "s")
    if value.value <= 0:
        raise NotMeasured(f"the run says it took {value.value:g} s", where=value.where)
    return value


def time_to_accuracy(run: Run, at: Mapping[str, Any]) -> Measure:
    return measure.time_to_accuracy(run, at["accuracy"])


# --- steps ----------------------------------------------------------------------------------


def read_most(run: Run) -> Measure:
    """Return the highest number of times that any sample was read in one epoch."""
    return exact(max(read.most for read in _reads(run)), "times", last_epoch(run))


def reading_orders(run: Run) -> Measure:
    """Return the number of different orders in which the epochs read the samples.

    The result is 1 if all epochs use the same order.
    """
    return exact(len({read.order for read in _reads(run)}), "orders", last_epoch(run))


def _reads(run: Run) -> list[Read]:
    reads = [epoch.read for epoch in run.epochs]
    if not reads or None in reads:
        raise NotMeasured("the output does not report which samples the steps read")
    return [read for read in reads if read]


def steps(run: Run) -> Measure:
    counts = {e.steps for e in run.epochs if e.steps is not None}
    if not counts:
        raise NotMeasured("the output does not report how many steps an epoch has")
    if len(counts) > 1:
        raise NotMeasured(f"epochs differ in their number of steps: {sorted(counts)}")
    return exact(counts.pop(), "steps", last_epoch(run))


def steps_expected(run: Run) -> Measure:
    """Return ceil(unique samples / global batch)."""
    samples = measure.unique_samples(run)
    batch = interval.measured_or_none(in_header("global_batch"), run)
    if batch is None or batch.value < 1:
        raise NotMeasured("the output does not report its global batch")
    return exact(math.ceil(samples.value / batch.value), "steps", basis="samples / global batch")


def last_rate(run: Run) -> Measure:
    rate = run.epochs[-1].lr if run.epochs else None
    if rate is None:
        raise NotMeasured("the epochs do not report their learning rate")
    return exact(rate, "", last_epoch(run), "as the last epoch used it")


# --- what was learnt ------------------------------------------------------------------------


def loss(which: int) -> Callable[[Run], Measure]:
    """Return a function that measures the training loss of the first (0) or last (-1) epoch."""

    def value(run: Run) -> Measure:
        return stated(run.epochs[which].train_loss if run.epochs else None, "training loss")

    return value


def test_loss(run: Run) -> Measure:
    return stated(run.test_loss, "test loss")


def test_accuracy(run: Run) -> Measure:
    return _fraction(run.test_accuracy, "test accuracy")


def train_accuracy(which: int) -> Callable[[Run], Measure]:
    def value(run: Run) -> Measure:
        return _fraction(
            run.epochs[which].train_accuracy if run.epochs else None, "training accuracy"
        )

    return value


def _fraction(number: Number | None, name: str) -> Measure:
    value = stated(number, name)
    if not 0 <= value.value <= 1:
        raise NotMeasured(f"the {name} is {value.value:g}, not between 0 and 1", where=value.where)
    return value
