"""Compare a student's prediction with the job's measurement."""

import textwrap
from pathlib import Path
from typing import Any

from autograder.measuring.interval import Measure, is_number
from autograder.wording import shown

NOTES = "answers.txt"


def said(name: str, path: str | Path = NOTES) -> float | str | None:
    """Return the value that `answers.note` wrote under this name: a number, a text, or None."""
    if not Path(path).exists():
        return None
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        key, equals, text = (part.strip() for part in line.partition("="))
        if equals and key == name:
            try:
                number = float(text)
            except ValueError:
                return text
            return number if is_number(number) else text
    return None


def compare(
    name: str,
    measured: Measure | float | str,
    unit: str = "",
    *,
    how: str = "measured",
    path: str | Path = NOTES,
) -> None:
    """Print “you said …, you measured …”.

    `measured` is a number, a word, or a Measure, whose interval is printed too. `how` is the
    verb to print for values that were counted or computed instead of measured.
    """
    before = said(name, path)
    value = measured.value if isinstance(measured, Measure) else measured
    if value != value:  # nan
        print(f"{name}: not measured here.")
        return
    found = f"you {how} {_written(value, unit)}{_interval(measured, unit)}"
    if before is None:
        line = (
            f"{name}: you predicted nothing, {found}. Predict first, because that is how you learn."
        )
    else:
        line = f"{name}: you said {_written(before, unit)}, {found}{_verdict(before, measured)}"
    print(textwrap.fill(line, 90, subsequent_indent="  "))


def _written(value: Any, unit: str) -> str:
    if not is_number(value):
        return f"“{value}”"
    return f"{shown(value)} {unit}".rstrip()


def _interval(measured: Measure | float | str, unit: str) -> str:
    if not isinstance(measured, Measure) or measured.low == measured.high:
        return ""
    return f" ({shown(measured.low)} to {_written(measured.high, unit)})"


def _verdict(before: float | str, measured: Measure | float | str) -> str:
    value = measured.value if isinstance(measured, Measure) else measured
    if not is_number(before) or not is_number(value):
        same = str(before).casefold() == str(value).casefold()
        return ": as you predicted." if same else ": not as you predicted."
    if isinstance(measured, Measure) and measured.low <= before <= measured.high:
        return ": within this range."
    if before == 0 or value == 0 or (before < 0) != (value < 0):
        return ": the same." if before == value else f": {shown(before - value)} apart."
    times = before / value
    if 0.995 <= times <= 1.005:
        return ": the same."
    if 0.5 < times < 2:
        return f": {abs(times - 1):.0%} too {'high' if times > 1 else 'low'}."
    factor = max(times, 1 / times)
    times_off = f"{factor:.2g}" if factor < 100 else f"{factor:,.0f}"
    return f": {times_off} times too {'high' if times > 1 else 'low'}."
