"""What was measured, with its uncertainty. Pure functions of records; notebooks use the same ones.

Every result is a Measure with the interval in which the true value may lie; what cannot be measured
raises NotMeasured with the reason. Nothing here guesses: a number that is not finite, or not
positive where it has to be, is no measure.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import ParamSpec, TypeGuard, TypeVar

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


class NotMeasured(Exception):  # noqa: N818 - mostly no error of anybody
    """The output does not give this measure, and why."""

    def __init__(
        self, reason: str, try_: str = "", where: Sequence[Where] = (), absent: bool = False
    ) -> None:
        super().__init__(f"{reason}; {try_}" if try_ else reason)
        self.reason = reason
        self.try_ = try_
        self.where = tuple(where)
        self.absent = absent  # there is no finished run to measure


Arguments = ParamSpec("Arguments")
Item = TypeVar("Item")
Measured = TypeVar("Measured")


def measured_or_none(
    measure: Callable[Arguments, Measured], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> Measured | None:
    """For reports, pictures and evidence, where what is not measured is a gap and no failure."""
    try:
        return measure(*args, **kwargs)
    except NotMeasured:
        return None


def each_measured(measure: Callable[[Item], Measured], items: Iterable[Item]) -> list[Measured]:
    """Of repeats those that can be measured; if none can, NotMeasured of the first."""
    values, reasons = [], []
    for item in items:
        try:
            values.append(measure(item))
        except NotMeasured as missing:
            reasons.append(missing)
    if reasons and not values:
        raise reasons[0]
    return values


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


def printed(number: Number, unit: str = "", basis: str = "") -> Measure:
    """A printed number with its rounding: "14s" is 14, between 13.5 and 14.5."""
    where = (number.where,) if number.where else ()
    if not is_number(number.value) or not is_number(number.half_width):
        raise NotMeasured(f"the output says {number.value}, which is no number", where=where)
    half = abs(number.half_width)
    value = float(number.value)
    return Measure(value, value - half, value + half, unit, where, basis)


# --- intervals ------------------------------------------------------------------------------


def ratio(above: Measure, below: Measure, unit: str = "") -> Measure:
    """above / below; 14 s / 5 s in whole seconds is 2.8, anything from 2.45 to 3.22."""
    where = above.where + below.where
    if below.low <= 0 or above.low < 0:
        raise NotMeasured("a time or count that is not positive cannot be divided by", where=where)
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
    count, skip = len(values), left_out(len(values))
    return Measure(
        float(median(m.value for m in values)),
        lows[skip],
        highs[count - 1 - skip],
        values[0].unit,
        tuple(w for m in values for w in m.where),
        basis,
    )


def left_out(count: int) -> int:
    """How many of `count` sorted values at either end the median lies within with 95 % confidence:
    the largest s from 1 on with 2 · P(X ≤ s) ≤ 5 % for X of Binomial(count, 1/2), else 0."""
    # From ten standard deviations below the middle, what lies lower changes no digit: so the work
    # grows with the square root, and nothing overflows.
    skip = max(0, int(count / 2 - 5 * math.sqrt(count)))
    choices = math.lgamma(count + 1) - math.lgamma(skip + 1) - math.lgamma(count - skip + 1)
    term = math.exp(choices - count * math.log(2))
    tail = term
    while True:
        term *= (count - skip) / (skip + 1)
        tail += term
        if 2 * tail > 0.05:
            return skip
        skip += 1


# --- one run --------------------------------------------------------------------------------


def epoch_time(run: Run) -> Measure:
    """Median of the epochs after the first, which holds compilation, allocation and cold files."""
    if not any(e.seconds is not None for e in run.epochs):
        raise NotMeasured("the output tells no epoch times", "print the seconds of each epoch")
    if len(run.epochs) < 2:
        raise NotMeasured(
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


def later_epochs(run: Run) -> tuple[Epoch, ...]:
    """All but the first, whose time is reported apart."""
    return run.epochs[1:]


def unique_samples(run: Run) -> Measure:
    """Distinct training samples an epoch, over all ranks."""
    counts = {e.unique_samples for e in run.epochs if e.unique_samples is not None}
    if not counts:
        raise NotMeasured("the output does not say how many different samples an epoch reads")
    if not all(is_number(c) and c > 0 for c in counts):
        raise NotMeasured("the number of samples an epoch is no positive number")
    if len(counts) > 1:
        raise NotMeasured(f"epochs differ in their number of samples: {sorted(counts)}")
    where = tuple(e.where for e in run.epochs[:1] if e.where)
    return exact(counts.pop(), "samples", where)


def throughput(run: Run) -> Measure:
    """Unique training samples a second: padding and samples read twice do not count."""
    seconds, samples = epoch_time(run), unique_samples(run)
    rate = ratio(samples, seconds, "samples/s")
    return Measure(rate.value, rate.low, rate.high, rate.unit, seconds.where, seconds.basis)


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
    here, there = (measured_or_none(unique_samples, run) for run in (one, other))
    if here and there and scaling != "weak":
        a, b = int(here.value), int(there.value)
        if a != b:
            found.append(f"one reads {a} different samples an epoch, the other {b}")
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


def speedup(base: Run, run: Run, scaling: str | None = None) -> Measure:
    """Epoch time of the base over that of the run, only for the same work on the same hardware."""
    reasons = different_work(base, run, scaling) + different_hardware(base, run)
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
    """Speedup over the growth in workers; weak scaling: epoch time of the base over the run's."""
    few, many = workers(base), workers(run)
    if few is None or many is None:
        raise NotMeasured("the output does not say how many ranks took part")
    gain = speedup(base, run, scaling)
    return gain if scaling == "weak" else scaled(gain, few / many)


def time_to_accuracy(run: Run, target: float) -> Measure:
    """Seconds of training until validation accuracy reaches the target and holds it once more."""
    total = 0.0
    for index, epoch in enumerate(run.epochs):
        if epoch.seconds is None or epoch.val_accuracy is None:
            raise NotMeasured("needs seconds and validation accuracy of every epoch")
        if not is_number(epoch.seconds.value) or epoch.seconds.value <= 0:
            raise NotMeasured(f"epoch {epoch.number} has no usable time")
        total += epoch.seconds.value
        following = run.epochs[index + 1] if index + 1 < len(run.epochs) else None
        if epoch.val_accuracy.value >= target and following is not None:
            held = following.val_accuracy
            if held is not None and held.value >= target:
                where = (epoch.where,) if epoch.where else ()
                return exact(total, "s", where, f"after epoch {epoch.number}")
    raise NotMeasured(f"validation accuracy did not reach {target:g} and hold it")
