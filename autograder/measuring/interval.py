"""Calculate with measured values and their uncertainty. Notebooks use these functions too.

Every result is a Measure with the interval that contains the true value. A value that cannot be
measured raises NotMeasured with the reason. Nothing is guessed: a number counts as not measured if
it is not finite, or not positive where it must be.
"""

import itertools
import math
import operator
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
    def ends(self) -> tuple[float, float]:
        return self.low, self.high

    @property
    def rounded(self) -> "Measure":
        """Return the value with only its rounding interval, as if there were no noise."""
        low, high = self.rounding or self.ends
        return replace(self, low=low, high=high, rounding=None)


def without_none(places: Iterable[Where | None]) -> tuple[Where, ...]:
    return tuple(place for place in places if place)


class NotMeasured(Exception):  # noqa: N818 - usually nobody's mistake
    """The output does not contain this value. The message gives the reason."""

    def __init__(
        self,
        reason: str,
        try_: str = "",
        where: Iterable[Where | None] = (),
        code: ReasonCode = ReasonCode.NOT_MEASURED,
    ) -> None:
        super().__init__(f"{reason}; {try_}" if try_ else reason)
        self.reason = reason
        self.try_ = try_
        self.where = without_none(where)
        self.code = code


Arguments = ParamSpec("Arguments")
Item = TypeVar("Item")
Measured = TypeVar("Measured")


def attempt(
    measure: Callable[Arguments, Measured], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> Measured | NotMeasured:
    """Return the value, or the reason why there is none."""
    try:
        return measure(*args, **kwargs)
    except NotMeasured as missing:
        return missing


def measured_or_none(
    measure: Callable[Arguments, Measured], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> Measured | None:
    """Return the value or, for reports and pictures, None if it is not measured."""
    value = attempt(measure, *args, **kwargs)
    return None if isinstance(value, NotMeasured) else value


def each_measured(
    measure: Callable[[Item], Measured], items: Iterable[Item], least: int = 1
) -> list[Measured]:
    """Return the values of the items that can be measured.

    If there are fewer than `least`, raise the NotMeasured error of the first that cannot.
    """
    results = [attempt(measure, item) for item in items]
    values = [result for result in results if not isinstance(result, NotMeasured)]
    for result in results if len(values) < least else ():
        if isinstance(result, NotMeasured):
            raise result
    return values


def is_number(value: object) -> TypeGuard[int | float]:
    """Return whether a value is a finite number. True and "nan" are not."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300


def exact(
    value: float, unit: str = "", where: Iterable[Where | None] = (), basis: str = ""
) -> Measure:
    return Measure(float(value), float(value), float(value), unit, without_none(where), basis)


def printed(number: Number, unit: str = "") -> Measure:
    """Return a printed number with its rounding interval: "14s" is 14, between 13.5 and 14.5."""
    where = without_none([number.where])
    if not is_number(number.value) or not is_number(number.half_width):
        raise NotMeasured(f"the output says {number.value}, which is not a number", where=where)
    value, half = float(number.value), abs(number.half_width)
    return Measure(value, value - half, value + half, unit, where)


# --- calculations ---------------------------------------------------------------------------


def computed(
    formula: Callable[..., float], *measures: Measure, unit: str = "", basis: str = ""
) -> Measure:
    """Return a formula's value, with the range of its results over the measures' intervals.

    The formula must be monotone in each measure, so its extremes are at the ends of the intervals.
    """

    def extremes(*intervals: tuple[float, float]) -> tuple[float, float]:
        results = [formula(*ends) for ends in itertools.product(*intervals)]
        return min(results), max(results)

    rounding = None
    if any(measure.rounding for measure in measures):
        rounding = extremes(*(measure.rounding or measure.ends for measure in measures))
    return Measure(
        formula(*(measure.value for measure in measures)),
        *extremes(*(measure.ends for measure in measures)),
        unit,
        tuple(dict.fromkeys(place for measure in measures for place in measure.where)),
        basis,
        rounding,
    )


def ratio(above: Measure, below: Measure, unit: str = "") -> Measure:
    """Return above / below.

    If both times are in whole seconds, 14 s / 5 s is 2.8, with an interval from 2.45 to 3.22.
    """
    if below.low <= 0 or above.low < 0:
        where = above.where + below.where
        raise NotMeasured("a time or count has to be positive to divide by it", where=where)
    return computed(operator.truediv, above, below, unit=unit)


def difference(first: Measure, second: Measure) -> Measure:
    """Return the distance |first − second|, which is never negative."""

    def distances(low: float, high: float) -> tuple[float, float]:
        return max(0.0, low, -high), max(-low, high)

    signed = computed(operator.sub, first, second, unit=first.unit)
    low, high = distances(*signed.ends)
    rounding = signed.rounding and distances(*signed.rounding)
    return replace(signed, value=abs(signed.value), low=low, high=high, rounding=rounding)


def scaled(measure: Measure, factor: float, plus: float = 0.0) -> Measure:
    """Return factor × measure + plus, in the same unit."""
    unit, basis = measure.unit, measure.basis
    return computed(lambda value: value * factor + plus, measure, unit=unit, basis=basis)


def middle(values: Sequence[Measure], basis: str = "") -> Measure:
    """Return the median with its 95 % confidence interval: for up to eight values, their range."""
    lows, highs = sorted(m.low for m in values), sorted(m.high for m in values)
    rounded = [m.rounded for m in values]
    skip = left_out(len(values))
    return Measure(
        float(median(m.value for m in values)),
        lows[skip],
        highs[-1 - skip],
        values[0].unit,
        tuple(w for m in values for w in m.where),
        basis,
        (float(median(m.low for m in rounded)), float(median(m.high for m in rounded))),
    )


def left_out(count: int) -> int:
    """Return how many of `count` sorted values the interval of the median leaves out at each end.

    This approximates the largest s with 2 · P(X ≤ s) ≤ 5 % for X ~ Binomial(count, 1/2), or 0.
    """
    return max(0, math.floor((count - 1) / 2 - 0.98 * math.sqrt(count - 0.5)))
