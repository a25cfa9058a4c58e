"""Read the times at the beginning of log lines, and compute the epochs' seconds from them.

[03/07/24 14:47:13] INFO  Epoch 0: …       2026-03-02 10:00:00,123 - INFO - Training epoch 3

A single line does not say which of 03/07 is the month. Only the whole log shows the order: with day
and month swapped, one night would seem to last a month.
"""

import re
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from statistics import median

CLOCK = r"(\d\d):(\d\d):(\d\d)(?:[.,](\d{1,6}))?"
ISO = re.compile(rf"(?<!\d)(\d{{4}})[-/](\d\d)[-/](\d\d)[ T]{CLOCK}")
SHORT = re.compile(rf"(?<!\d)(\d\d)[/.-](\d\d)[/.-](\d\d(?:\d\d)?),? {CLOCK}")
DAILY = re.compile(rf"^[\[(]?{CLOCK}[\])\s|]")
DAY = 86_400


@dataclass(frozen=True, slots=True)
class Stamp:
    """A timestamp in seconds, with the day or the month first. An impossible date is None."""

    day_first: float | None
    month_first: float | None
    daily: bool  # whether it has only a time of day
    resolution: float


def read(line: str) -> Stamp | None:
    """Return the time at or near the beginning of a line."""
    head = line[:200]
    if (found := ISO.search(head)) is not None:
        year, month, day = int(found[1]), int(found[2]), int(found[3])
        moment = seconds_of(found, 4, ordinal(year, month, day))
        return None if moment is None else Stamp(moment, moment, False, resolution(found[7]))
    if (found := SHORT.search(head)) is not None:
        one, other, year = int(found[1]), int(found[2]), int(found[3]) % 100 + 2000
        day_first = seconds_of(found, 4, ordinal(year, other, one))
        month_first = seconds_of(found, 4, ordinal(year, one, other))
        if day_first is None and month_first is None:
            return None
        return Stamp(day_first, month_first, False, resolution(found[7]))
    if (found := DAILY.match(head)) is not None:
        moment = seconds_of(found, 1, 0)
        return None if moment is None else Stamp(moment, moment, True, resolution(found[4]))
    return None


def ordinal(year: int, month: int, day: int) -> int | None:
    try:
        return date(year, month, day).toordinal()
    except ValueError:
        return None


def seconds_of(found: re.Match[str], at: int, days: int | None) -> float | None:
    hours, minutes, seconds = (int(found[at + place]) for place in range(3))
    if days is None or hours > 23 or minutes > 59 or seconds > 60:
        return None
    fraction = float(f"0.{found[at + 3]}") if found[at + 3] else 0.0
    return days * DAY + hours * 3600 + minutes * 60 + seconds + fraction


def resolution(fraction: str | None) -> float:
    return 10.0 ** -len(fraction) if fraction else 1.0


def differences(stamps: list[Stamp]) -> list[float] | None:
    """Return the differences between consecutive timestamps, or None if neither date order fits."""
    readings = [
        spans([getattr(stamp, name) for stamp in stamps], all(stamp.daily for stamp in stamps))
        for name in ("day_first", "month_first")
    ]
    good = [reading for reading in readings if reading is not None]
    return min(good, key=sum, default=None)


def spans(moments: list[float | None], daily: bool) -> list[float] | None:
    times = [moment for moment in moments if moment is not None]
    if len(times) < len(moments):
        return None
    steps = [after - before for before, after in pairwise(times)]
    steps = [step + DAY if daily and step < 0 else step for step in steps]
    return steps if all(step > 0 for step in steps) else None


def disagree(printed: list[float], measured: list[float]) -> bool:
    """Return whether the printed seconds are far from the elapsed time in the log."""
    ratio = median(printed) / max(median(measured), 1e-9)
    return not 0.5 <= ratio <= 1.1
