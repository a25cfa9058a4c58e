"""Measure a run, and a run relative to its baseline. Notebooks use the same functions.

Each function returns a Measure with the interval of the true value, or raises NotMeasured.
"""

from collections.abc import Sequence
from dataclasses import replace

from autograder.measuring.interval import (
    Measure,
    NotMeasured,
    exact,
    is_number,
    measured_or_none,
    middle,
    printed,
    ratio,
    scaled,
)
from autograder.records import Run


def epoch_time(run: Run) -> Measure:
    """Return the median time of the epochs after the first.

    The first epoch includes compilation, allocation and reading files that are not cached.
    """
    if not any(e.seconds is not None for e in run.epochs):
        raise NotMeasured("the output has no epoch times", "print the seconds of each epoch")
    if len(run.epochs) < 2:
        raise NotMeasured(
            "there is only one epoch, and the first epoch includes the start-up",
            "train at least 3 epochs",
            tuple(e.where for e in run.epochs if e.where),
        )
    values = []
    later = run.epochs[1:]
    for epoch in later:
        seconds = epoch.seconds
        if seconds is None:
            where = (epoch.where,) if epoch.where else ()
            raise NotMeasured(f"epoch {epoch.number} has no usable time", where=where)
        value = printed(seconds, "s")
        if value.value <= 0 or value.low <= 0:
            reason = f"epoch {epoch.number} took {seconds.value:g} s as printed: too coarse to use"
            if value.value < 0:
                reason = f"epoch {epoch.number} says {seconds.value:g} s, which cannot be"
            raise NotMeasured(reason, "print seconds with decimals", value.where)
        values.append(value)
    first, last = later[0].number, later[-1].number
    if len(values) == 1:
        return middle(values, f"one sample, epoch {first}")
    return middle(values, f"median of epochs {first} to {last}")


def unique_samples(run: Run) -> Measure:
    """Return the number of distinct training samples per epoch, over all ranks."""
    counts = {e.unique_samples for e in run.epochs if e.unique_samples is not None}
    if not counts:
        raise NotMeasured("the output does not report how many different samples an epoch reads")
    if not all(is_number(c) and c > 0 for c in counts):
        raise NotMeasured("the number of samples per epoch is not a positive number")
    if len(counts) > 1:
        raise NotMeasured(f"epochs differ in their number of samples: {sorted(counts)}")
    where = tuple(e.where for e in run.epochs[:1] if e.where)
    return exact(counts.pop(), "samples", where)


def throughput(run: Run) -> Measure:
    """Return unique training samples per second; padding and repeated samples do not count."""
    seconds, samples = epoch_time(run), unique_samples(run)
    rate = ratio(samples, seconds, "samples/s")
    return replace(rate, where=seconds.where, basis=seconds.basis)


def workers(run: Run) -> int | None:
    """Return the number of workers that took part: ranks × replicas per rank."""
    ranks = whole(run.workers) or whole(run.header.world_size)
    each = 1 if run.header.replicas is None else whole(run.header.replicas)
    return ranks * each if ranks and each else None


def whole(count: object) -> int | None:
    """Return the number if it is a positive integer."""
    return int(count) if is_number(count) and count >= 1 and int(count) == count else None


# --- two runs -------------------------------------------------------------------------------

WORK = ("model", "params", "image_size", "precision", "lesson")
HARDWARE = ("device", "threads")


def unlike(first: Run, other: Run, facts: Sequence[str]) -> list[str]:
    """Return a sentence for each of these facts that has different values in the two headers."""
    differences = []
    for fact in facts:
        a, b = first.header.get(fact), other.header.get(fact)
        if a is not None and b is not None and a != b:
            differences.append(f"{fact} is {a!s:.60} in one and {b!s:.60} in the other")
    return differences


def not_comparable(first: Run, other: Run, scaling: str | None = None) -> list[str]:
    """Return the differences in work and hardware that make the seconds of two runs incomparable.

    For strong scaling, their batch sizes have to be equal too.
    """
    differences = unlike(first, other, WORK)
    here, there = (measured_or_none(unique_samples, run) for run in (first, other))
    few, many = (workers(run) if scaling == "weak" else 1 for run in (first, other))
    if here and there and few and many:
        a, b = int(here.value), int(there.value)
        if a * many != b * few:
            text = f"one reads {a} different samples per epoch, the other {b}"
            differences.append(
                text + (f", on {few} and {many} workers" if scaling == "weak" else "")
            )
    name, other_name = first.header.dataset.name, other.header.dataset.name
    if name and other_name and name != other_name:
        differences.append(f"one trains on {name:.40}, the other on {other_name:.40}")
    if scaling == "strong":
        differences += unlike(first, other, ("global_batch",))
    if scaling in ("epoch", "weak"):
        differences += unlike(first, other, ("local_batch",))
    return differences + unlike(first, other, HARDWARE)


def speedup(base: Run, run: Run, scaling: str | None = None) -> Measure:
    """Return the base run's epoch time divided by this run's, for equal work and hardware."""
    reasons = not_comparable(base, run, scaling)
    if reasons:
        raise NotMeasured(
            "not the same work on the same hardware: " + "; ".join(reasons),
            "run the baseline with the same program, data, batch and device",
        )
    try:
        slow = epoch_time(base)
    except NotMeasured as missing:
        raise NotMeasured(f"baseline: {missing.reason}", missing.try_, missing.where) from None
    return ratio(slow, epoch_time(run))


def efficiency(base: Run, run: Run, scaling: str | None = None) -> Measure:
    """Return the speedup divided by the growth in workers.

    For weak scaling, return the ratio of the epoch times.
    """
    few, many = workers(base), workers(run)
    if few is None or many is None:
        raise NotMeasured("the output does not report how many ranks took part")
    gain = speedup(base, run, scaling)
    return gain if scaling == "weak" else scaled(gain, few / many)


def time_to_accuracy(run: Run, target: float) -> Measure:
    """Return the seconds until validation accuracy reaches the target.

    The accuracy has to stay at or above the target for one more epoch.
    """
    reached = [bool(e.val_accuracy and e.val_accuracy.value >= target) for e in run.epochs]
    total = 0.0
    for index, epoch in enumerate(run.epochs):
        if epoch.seconds is None or epoch.val_accuracy is None:
            raise NotMeasured("needs the seconds and validation accuracy of every epoch")
        if not is_number(epoch.seconds.value) or epoch.seconds.value <= 0:
            raise NotMeasured(f"epoch {epoch.number} has no usable time")
        total += epoch.seconds.value
        if reached[index : index + 2] == [True, True]:
            where = (epoch.where,) if epoch.where else ()
            return exact(total, "s", where, f"after epoch {epoch.number}")
    raise NotMeasured(f"validation accuracy did not reach {target:g} and stay there")
