"""Numbers as a job printed them: finite, and with the half width of their rounding.

Everything that is no plain finite number is None: NaN, infinities, booleans, words. What None means
is for the caller to say; no caller may put a number in its place.
"""

import math
import re
from typing import Any

from autograder.records import Number, Where

# At most 30 digits on either side: no measure has more, and no pattern here can run away.
NUMBER = r"[-+]?(?:\d{1,30}(?:\.\d{0,30})?|\.\d{1,30})(?:[eE][-+]?\d{1,3})?"
VALUE = rf"(?:{NUMBER}|[Nn]a[Nn]|-?[Ii]nf)"  # what a diverged training prints is told apart later
PARTS = re.compile(
    r"[-+]?\d{0,30}(?:\.(?P<decimals>\d{0,30}))?(?:[eE](?P<exponent>[-+]?\d{1,3}))?\Z"
)


def finite(value: Any) -> float | None:
    """A number of a decoded record, or None."""
    if type(value) is int and -(10**15) < value < 10**15:  # the usual, quickly
        return float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def printed(text: str, scale: float = 1.0) -> Number | None:
    """A number in text, times a unit's scale: "14" is 14 ± 0.5, "0.98" is 0.98 ± 0.005."""
    parts = PARTS.match(text.strip())
    if parts is None:
        return None
    last_digit = int(parts["exponent"] or 0) - len(parts["decimals"] or "")
    try:
        value = scaled(float(text), scale)
        half_width = 0.5 * 10.0**last_digit * scale
    except (ValueError, OverflowError):
        return None
    if not (math.isfinite(value) and math.isfinite(half_width)):
        return None
    return Number(value, half_width)


def scaled(value: float, scale: float) -> float:
    """The product without the last digits' noise: 65.292 % is 0.65292."""
    return value if scale == 1 else float(f"{value * scale:.14g}")


def fraction(text: str, unit: str = "") -> Number | None:
    """An accuracy in text: in percent if it says so or if it is above 1."""
    number = printed(text, 0.01 if unit == "%" else 1.0)
    if number is not None and number.value > 1 and unit != "%":
        return printed(text, 0.01)
    return number


def exact(value: Any, where: Where | None = None) -> Number | None:
    """A number of a decoded record as a Number without rounding."""
    number = finite(value)
    return None if number is None else Number(number, 0.0, where)


def count(value: Any, least: int = 0) -> int | None:
    """A count of a decoded record, or None."""
    return value if type(value) is int and least <= value <= 10**15 else None
