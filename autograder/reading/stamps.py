"""Read the times at the beginning of log lines, and compute the epochs' seconds from them.

[03/07/24 14:47:13] INFO  Epoch 0: …       2026-03-02 10:00:00,123 - INFO - Training epoch 3

A single line does not say which of 03/07 is the month. Only the whole log shows the order: with day
and month swapped, one night would seem to last a month.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

CLOCK = r"(?P<clock>\d\d:\d\d:\d\d)(?:[.,](?P<fraction>\d{1,6}))?"
ISO = re.compile(rf"(?<!\d)(\d{{4}})[-/](\d\d)[-/](\d\d)[ T]{CLOCK}")
SHORT = re.compile(rf"(?<!\d)(\d\d)[/.-](\d\d)[/.-](?:20)?(\d\d),? {CLOCK}")
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
    if match := ISO.search(head):
        year, month, day = match.groups()[:3]
        day_first = month_first = seconds_of(f"{year}-{month}-{day}", match)
    elif match := SHORT.search(head):
        one, other, year = match.groups()[:3]
        day_first = seconds_of(f"20{year}-{other}-{one}", match)
        month_first = seconds_of(f"20{year}-{one}-{other}", match)
    elif match := DAILY.match(head):
        day_first = month_first = seconds_of("0001-01-01", match)
    else:
        return None
    if day_first is None and month_first is None:
        return None
    resolution = 10.0 ** -len(match["fraction"] or "")
    return Stamp(day_first, month_first, match.re is DAILY, resolution)


def seconds_of(date: str, match: re.Match[str]) -> float | None:
    """Return the seconds since the year 1, or None if there is no such date or time."""
    try:
        moment = datetime.fromisoformat(f"{date} {match['clock']}")
    except ValueError:
        return None
    return (moment - datetime.min).total_seconds() + float(f"0.{match['fraction'] or 0}")


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
