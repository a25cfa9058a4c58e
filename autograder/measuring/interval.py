"""Calculate with measured values and their uncertainty. Notebooks use these functions too.

Every result is a Measure with the interval that contains the true value. A value that cannot be
measured raises NotMeasured with the reason. Nothing is guessed: a number counts as not measured if
it is not finite, or not positive where it must be.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import ParamSpec, TypeGuard, TypeVar

from autograder.codes import ReasonCode
from autograder.records import Number, Where


@dataclass(frozen=True, slots=True)
class Measure:
    """A value with the interval that the output allows."""

    value: float
    low: float
    high: float
    unit: str = ""
    where: tuple[Where, ...] = ()
    basis: str = ""  # how it was obtained: "median of epochs 2 to 4"
    # The part of the interval that comes from rounding printed numbers; the rest is noise between
    # repeats. None: all of it is rounding.
    rounding: tuple[float, float] | None = None

    @property
    def rounded(self) -> "Measure":
        """Return the value with only its rounding interval, as if there were no noise."""
        low, high = self.rounding or (self.low, self.high)
        return replace(self, low=low, high=high, rounding=None)


class NotMeasured(Exception):  # noqa: N818 - usually nobody's mistake
    """The output does not contain this value. The message gives the reason."""

    def __init__(
        self,
        reason: str,
        try_: str = "",
        where: Sequence[Where] = (),
        code: ReasonCode = ReasonCode.NOT_MEASURED,
    ) -> None:
        super().__init__(f"{reason}; {try_}" if try_ else reason)
        self.reason = reason
        self.try_ = try_
        self.where = tuple(where)
        self.code = code

    @property
    def without_run(self) -> bool:
        """Return whether the value is missing because there is no finished run."""
        return self.code in (ReasonCode.NO_RUN, ReasonCode.RUN_UNFINISHED)


Arguments = ParamSpec("Arguments")
Item = TypeVar("Item")
Measured = TypeVar("Measured")


def measured_or_none(
    measure: Callable[Arguments, Measured], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> Measured | None:
    """Return the value, or None if it is not measured.

    Reports and pictures use this function, because they do not treat a missing value as a failure.
    """
    try:
        return measure(*args, **kwargs)
    except NotMeasured:
        return None


def each_measured(measure: Callable[[Item], Measured], items: Iterable[Item]) -> list[Measured]:
    """Return the values of the items that can be measured.

    If none can be measured, raise the NotMeasured error of the first item.
    """
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
    """Return whether a value is a finite number. True and "nan" are not."""
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and abs(value) < 1e300
        and math.isfinite(value)
    )


def exact(value: float, unit: str = "", where: Sequence[Where] = (), basis: str = "") -> Measure:
    return Measure(float(value), float(value), float(value), unit, tuple(where), basis)


def printed(number: Number, unit: str = "") -> Measure:
    """Return a printed number with its rounding interval: "14s" is 14, between 13.5 and 14.5."""
    where = (number.where,) if number.where else ()
    if not is_number(number.value) or not is_number(number.half_width):
        raise NotMeasured(f"the output says {number.value}, which is not a number", where=where)
    half = abs(number.half_width)
    value = float(number.value)
    return Measure(value, value - half, value + half, unit, where)


def stated(number: Number | None, what: str, unit: str = "") -> Measure:
    """Return a printed number, or raise NotMeasured if the output does not have it."""
    if number is None:
        raise NotMeasured(f"the output has no {what}")
    return printed(number, unit)


# --- intervals ------------------------------------------------------------------------------


def ratio(above: Measure, below: Measure, unit: str = "") -> Measure:
    """Return above / below.

    If both times are in whole seconds, 14 s / 5 s is 2.8, with an interval from 2.45 to 3.22.
    """
    where = above.where + below.where
    if below.low <= 0 or above.low < 0:
        raise NotMeasured("a time or count has to be positive to divide by it", where=where)
    quotient = Measure(
        above.value / below.value, above.low / below.high, above.high / below.low, unit, where
    )
    if above.rounding is None and below.rounding is None:
        return quotient
    return with_rounding(quotient, ratio(above.rounded, below.rounded))


def with_rounding(whole: Measure, rounded: Measure) -> Measure:
    return replace(whole, rounding=(rounded.low, rounded.high))


def difference(one: Measure, other: Measure) -> Measure:
    """Return the distance |one − other|, which is never negative."""
    low, high = one.low - other.high, one.high - other.low
    nearest = 0.0 if low <= 0 <= high else min(abs(low), abs(high))
    apart = Measure(
        abs(one.value - other.value),
        nearest,
        max(abs(low), abs(high)),
        one.unit,
        one.where + other.where,
    )
    if one.rounding is None and other.rounding is None:
        return apart
    return with_rounding(apart, difference(one.rounded, other.rounded))


def scaled(measure: Measure, factor: float, unit: str | None = None) -> Measure:
    ends = sorted((measure.low * factor, measure.high * factor))
    product = replace(
        measure,
        value=measure.value * factor,
        low=ends[0],
        high=ends[1],
        unit=measure.unit if unit is None else unit,
        rounding=None,
    )
    if measure.rounding is None:
        return product
    return with_rounding(product, scaled(measure.rounded, factor))


def middle(values: Sequence[Measure], basis: str = "") -> Measure:
    """Return the median with its 95 % confidence interval.

    With up to eight values, the interval covers their full range. With more values, the interval
    leaves out as many at each end as the binomial distribution allows.
    """
    lows, highs = sorted(m.low for m in values), sorted(m.high for m in values)
    rounded = [m.rounded for m in values]
    count, skip = len(values), left_out(len(values))
    return Measure(
        float(median(m.value for m in values)),
        lows[skip],
        highs[count - 1 - skip],
        values[0].unit,
        tuple(w for m in values for w in m.where),
        basis,
        (float(median(m.low for m in rounded)), float(median(m.high for m in rounded))),
    )


def left_out(count: int) -> int:
    """Return how many of `count` sorted values the interval of the median leaves out at each end.

    With 95 % confidence, this is the largest s with 2 · P(X ≤ s) ≤ 5 % for X distributed as
    Binomial(count, 1/2), or 0.
    """
    # Start ten standard deviations below the middle, because lower terms change no digit. The work
    # grows with the square root of `count`, and nothing overflows.
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
