"""Read printed numbers as finite values, each with half the width of its rounding interval.

NaN, infinities, booleans and words become None. Callers decide what None means, but must not
replace it with a number.
"""

import re
from typing import Any

from autograder.records import Number, Where, plain_number

# At most 30 digits on either side. No measurement has more, and the limit keeps the patterns quick.
NUMBER = r"[-+]?(?:\d{1,30}(?:\.\d{0,30})?|\.\d{1,30})(?:[eE][-+]?\d{1,3})?"
VALUE = rf"(?:{NUMBER}|[Nn]a[Nn]|-?[Ii]nf)"  # the words of a diverged training are recognised later
WORDS = {  # for each unit of time, its seconds
    "ns nsec nsecs nanosecond nanoseconds": 1e-9,
    "us µs usec usecs microsecond microseconds": 1e-6,
    "ms msec msecs millis millisecond milliseconds": 1e-3,
    "s sec secs second seconds": 1.0,
    "m min mins minute minutes": 60.0,
    "h hr hrs hour hours": 3600.0,
    "d day days": 86400.0,
}
UNITS = {word: seconds for words, seconds in WORDS.items() for word in words.split()}
# With an exponent of three digits, a number is not a measurement.
PARTS = re.compile(
    r"[-+]?(?=\.?\d)\d{0,30}(?:\.(?P<decimals>\d{0,30}))?(?:[eE](?P<exponent>[-+]?\d{1,2}))?\Z"
)


def finite(value: Any) -> float | None:
    """Return a finite number from a decoded record, or None."""
    number = plain_number(value)
    return None if number is None else float(number)


def printed(text: str, scale: float = 1.0) -> Number | None:
    """Return the number in a text in its base unit: "14" is 14 ± 0.5, "0.98" is 0.98 ± 0.005."""
    text = text.strip().replace(",", ".")
    parts = PARTS.match(text)
    if parts is None:
        return None
    last_digit = int(parts["exponent"] or 0) - len(parts["decimals"] or "")
    return Number(scaled(float(text), scale), 0.5 * 10.0**last_digit * scale)


def scaled(value: float, scale: float) -> float:
    """Return value × scale without floating-point noise: 65.292 % becomes 0.65292."""
    return value if scale == 1 else float(f"{value * scale:.14g}")


def placed(number: Number, where: Where) -> Number:
    return Number(number.value, number.half_width, where)


def positive(number: Number | None) -> Number | None:
    return number if number is not None and number.value > 0 else None


def timed(text: str, unit: str) -> Number | None:
    """Return the seconds in a number with a unit, or in a clock such as 1:02:03.

    Some programs cut off a clock's fractions, so 0:12 is 12 ± 1 s.
    """
    *parts, seconds = text.split(":")
    rest = printed(seconds, 1.0 if parts or not unit else UNITS[unit.lower()])
    if rest is None or not parts:
        return rest
    before = 0
    for part in parts:
        before = 60 * (before + int(part))
    return Number(before + rest.value, rest.half_width if "." in seconds else 1.0)


def fraction(text: str) -> Number | None:
    """Return the accuracy in a text: a percentage if it is above 1."""
    number = printed(text)
    return printed(text, 0.01) if number is not None and number.value > 1 else number


def exact(value: Any, where: Where | None = None) -> Number | None:
    """Return a number from a decoded record as a Number without rounding."""
    number = finite(value)
    return None if number is None else Number(number, 0.0, where)


def count(value: Any, least: int = 0) -> int | None:
    """Return a count from a decoded record, or None."""
    return value if type(value) is int and least <= value <= 10**15 else None
