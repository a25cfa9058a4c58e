"""What was measured, with its uncertainty. Pure functions of records; notebooks use the same ones.

Every result is a Measure with the interval in which the true value may lie, or Missing with the
reason. Nothing here guesses: a number that is not finite, or not positive where it has to be, makes
the whole measure Missing.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import TypeGuard

from autograder.records import Epoch, Number, Run, Where


@dataclass(frozen=True, slots=True)
class Measure:
    """A value and the interval that the log leaves open for it."""

    value: float
    low: float
    high: float
    unit: str = ""
    where: tuple[Where, ...] = ()
    basis: str = ""  # how it came about: "median of epochs 2 to 4"


@dataclass(frozen=True, slots=True)
class Missing:
    """Not measured, and why."""

    reason: str
    try_: str = ""
    where: tuple[Where, ...] = ()
    absent: bool = False  # there is no finished run to measure


Result = Measure | Missing


def is_number(value: object) -> TypeGuard[int | float]:
    """A finite number; True is no number, and neither is "nan"."""
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and abs(value) < 1e300
        and math.isfinite(value)
    )


def exact(value: float, unit: str = "", where: Sequence[Where] = (), basis: str = "") -> Measure:
    return Measure(float(value), float(value), float(value), unit, tuple(where), basis)


def printed(number: Number, unit: str = "", basis: str = "") -> Result:
    """A printed number with its rounding: "14s" is 14, between 13.5 and 14.5."""
    where = (number.where,) if number.where else ()
    if not is_number(number.value) or not is_number(number.half_width):
        return Missing(f"the output says {number.value}, which is no number", where=where)
    half = abs(number.half_width)
    value = float(number.value)
    return Measure(value, value - half, value + half, unit, where, basis)


# --- intervals ------------------------------------------------------------------------------


def ratio(above: Measure, below: Measure, unit: str = "") -> Result:
    """above / below; 14 s / 5 s in whole seconds is 2.8, anything from 2.45 to 3.22."""
    where = above.where + below.where
    if below.low <= 0 or above.low < 0:
        return Missing("a time or count that is not positive cannot be divided by", where=where)
    return Measure(
        above.value / below.value, above.low / below.high, above.high / below.low, unit, where
    )


def difference(one: Measure, other: Measure) -> Measure:
    """The distance |one − other|, never negative."""
    low, high = one.low - other.high, one.high - other.low
    nearest = 0.0 if low <= 0 <= high else min(abs(low), abs(high))
    return Measure(
        abs(one.value - other.value),
        nearest,
        max(abs(low), abs(high)),
        one.unit,
        one.where + other.where,
    )


def scaled(measure: Measure, factor: float, unit: str | None = None) -> Measure:
    ends = sorted((measure.low * factor, measure.high * factor))
    return Measure(
        measure.value * factor,
        ends[0],
        ends[1],
        measure.unit if unit is None else unit,
        measure.where,
        measure.basis,
    )


def middle(values: Sequence[Measure], basis: str = "") -> Measure:
    """The median, and between which values it lies with 95 % confidence.

    Up to eight values that interval is their whole range; with more, as many are left out at both
    ends as the binomial distribution allows.
    """
    lows, highs = sorted(m.low for m in values), sorted(m.high for m in values)
    count, skip, tail = len(values), 0, 0.0
    while 2 * (skip + 1) < count:
        tail += math.comb(count, skip) / 2.0**count
        if 2 * (tail + math.comb(count, skip + 1) / 2.0**count) > 0.05:
            break
        skip += 1
    return Measure(
        float(median(m.value for m in values)),
        lows[skip],
        highs[count - 1 - skip],
        values[0].unit,
        tuple(w for m in values for w in m.where),
        basis,
    )


# --- one run --------------------------------------------------------------------------------


def epoch_time(run: Run) -> Result:
    """Median of the epochs after the first, which holds compilation, allocation and cold files."""
    if not any(e.seconds is not None for e in run.epochs):
        return Missing("the output tells no epoch times", "print the seconds of each epoch")
    if len(run.epochs) < 2:
        return Missing(
            "there is one epoch only, and the first epoch holds the start-up",
            "train at least 3 epochs",
            tuple(e.where for e in run.epochs if e.where),
        )
    values = []
    later = later_epochs(run)
    for epoch in later:
        seconds = epoch.seconds
        if seconds is None:
            where = (epoch.where,) if epoch.where else ()
            return Missing(f"epoch {epoch.number} has no usable time", where=where)
        value = printed(seconds, "s")
        if isinstance(value, Missing):
            return value
        if value.value <= 0 or value.low <= 0:
            reason = f"epoch {epoch.number} took {seconds.value:g} s as printed: too coarse to use"
            if value.value < 0:
                reason = f"epoch {epoch.number} says {seconds.value:g} s, which cannot be"
            return Missing(reason, "print seconds with decimals", value.where)
        values.append(value)
    first, last = later[0].number, later[-1].number
    if len(values) == 1:
        return middle(values, f"one sample, epoch {first}")
    return middle(values, f"median of epochs {first} to {last}")


def later_epochs(run: Run) -> tuple[Epoch, ...]:
    """All but the first, whose time is reported apart."""
    return run.epochs[1:]


def unique_samples(run: Run) -> Result:
    """Distinct training samples an epoch, over all ranks."""
    counts = {e.unique_samples for e in run.epochs if e.unique_samples is not None}
    if not counts:
        return Missing("the output does not say how many different samples an epoch reads")
    if not all(is_number(c) and c > 0 for c in counts):
        return Missing("the number of samples an epoch is no positive number")
    if len(counts) > 1:
        return Missing(f"epochs differ in their number of samples: {sorted(counts)}")
    where = tuple(e.where for e in run.epochs[:1] if e.where)
    return exact(counts.pop(), "samples", where)


def throughput(run: Run) -> Result:
    """Unique training samples a second: padding and samples read twice do not count."""
    samples, seconds = unique_samples(run), epoch_time(run)
    if isinstance(seconds, Missing):
        return seconds
    if isinstance(samples, Missing):
        return samples
    result = ratio(samples, seconds, "samples/s")
    if isinstance(result, Missing):
        return result
    return Measure(result.value, result.low, result.high, result.unit, seconds.where, seconds.basis)


def workers(run: Run) -> int | None:
    """How many took part, as the run itself says: ranks, times the replicas each of them drives."""
    ranks = whole(run.workers) or whole(run.header.get("world_size"))
    each = 1 if run.header.get("replicas") is None else whole(run.header["replicas"])
    return ranks * each if ranks and each else None


def whole(count: object) -> int | None:
    """A whole number from 1 on."""
    return int(count) if is_number(count) and count >= 1 and int(count) == count else None


# --- two runs -------------------------------------------------------------------------------

WORK = ("model", "params", "image_size", "precision", "lesson")
HARDWARE = ("device", "threads")


def unlike(one: Run, other: Run, facts: Sequence[str]) -> list[str]:
    """Facts of the header that both runs state and state differently, as sentences."""
    found = []
    for fact in facts:
        a, b = one.header.get(fact), other.header.get(fact)
        if a is not None and b is not None and a != b:
            found.append(f"{fact} is {a!s:.60} in one and {b!s:.60} in the other")
    return found


def different_work(one: Run, other: Run, scaling: str | None = None) -> list[str]:
    """Why the seconds of two runs cannot be divided, if so. Strong scaling also fixes the batch."""
    found = unlike(one, other, WORK)
    samples = [unique_samples(one), unique_samples(other)]
    if all(isinstance(s, Measure) for s in samples):
        counts = [int(s.value) for s in samples if isinstance(s, Measure)]
        if counts[0] != counts[1] and scaling != "weak":
            found.append(f"one reads {counts[0]} different samples an epoch, the other {counts[1]}")
    data = [r.header.get("dataset") for r in (one, other)]
    names = [d.get("name") for d in data if isinstance(d, dict)]
    if len(names) == 2 and names[0] != names[1]:
        found.append(f"one trains on {names[0]!s:.40}, the other on {names[1]!s:.40}")
    if scaling == "strong":
        found += unlike(one, other, ("global_batch",))
    if scaling in ("epoch", "weak"):
        found += unlike(one, other, ("local_batch",))
    return found


def different_hardware(one: Run, other: Run) -> list[str]:
    return unlike(one, other, HARDWARE)


def speedup(base: Run, run: Run, scaling: str | None = None) -> Result:
    """Epoch time of the base over that of the run, only for the same work on the same hardware."""
    reasons = different_work(base, run, scaling) + different_hardware(base, run)
    if reasons:
        return Missing(
            "not the same work on the same hardware: " + "; ".join(reasons),
            "run the baseline with the same program, data, batch and device",
        )
    slow, fast = epoch_time(base), epoch_time(run)
    if isinstance(slow, Missing):
        return Missing(f"baseline: {slow.reason}", slow.try_, slow.where)
    if isinstance(fast, Missing):
        return fast
    return ratio(slow, fast)


def efficiency(base: Run, run: Run, scaling: str | None = None) -> Result:
    """Speedup over the growth in workers; weak scaling: epoch time of the base over the run's."""
    few, many = workers(base), workers(run)
    if few is None or many is None:
        return Missing("the output does not say how many ranks took part")
    gain = speedup(base, run, scaling)
    if isinstance(gain, Missing) or scaling == "weak":
        return gain
    return scaled(gain, few / many)


def karp_flatt(gain: Measure, count: int) -> Result:
    """The serial fraction that a speedup on `count` workers amounts to."""
    if count < 2:
        return Missing("Karp–Flatt needs at least two workers")
    if gain.low <= 0:
        return Missing("a speedup has to be positive")

    def fraction(value: float) -> float:
        return (1 / value - 1 / count) / (1 - 1 / count)

    return Measure(
        fraction(gain.value), fraction(gain.high), fraction(gain.low), "", gain.where, gain.basis
    )


def time_to_accuracy(run: Run, target: float) -> Result:
    """Seconds of training until validation accuracy reaches the target and holds it once more."""
    total = 0.0
    for index, epoch in enumerate(run.epochs):
        if epoch.seconds is None or epoch.val_accuracy is None:
            return Missing("needs seconds and validation accuracy of every epoch")
        if not is_number(epoch.seconds.value) or epoch.seconds.value <= 0:
            return Missing(f"epoch {epoch.number} has no usable time")
        total += epoch.seconds.value
        following = run.epochs[index + 1] if index + 1 < len(run.epochs) else None
        if epoch.val_accuracy.value >= target and following is not None:
            held = following.val_accuracy
            if held is not None and held.value >= target:
                where = (epoch.where,) if epoch.where else ()
                return exact(total, "s", where, f"after epoch {epoch.number}")
    return Missing(f"validation accuracy did not reach {target:g} and hold it")
