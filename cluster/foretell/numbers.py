"""A cell → a number, and seconds where it is a time: 12.5, 48,229, 3.2 min, 1:02:03, 97 %."""

import math
import re

NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
CELL = re.compile(rf"[~≈]?\s*({NUMBER})\s*([^\d\s].*)?")
THOUSANDS = re.compile(r"(?<![\d.])\d{1,3}(?:,\d{3})+(?!\d)")
CLOCK = re.compile(r"(?:(\d+):)?(\d{1,2}):(\d{2}(?:\.\d+)?)")
SECONDS = {
    **dict.fromkeys(("ns", "nanoseconds"), 1e-9),
    **dict.fromkeys(("us", "µs", "μs", "microseconds"), 1e-6),
    **dict.fromkeys(("ms", "msec", "millisecond", "milliseconds"), 1e-3),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1.0),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), 60.0),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), 3600.0),
    **dict.fromkeys(("d", "day", "days"), 86400.0),
}
ABSENT = {"", "-", "–", "—", "n/a", "na", "nan", "none", "null", "oom", "failed", "x"}


def absent(text: str) -> bool:
    return text.lower() in ABSENT


def number(text: str) -> tuple[float, str]:
    """The number of a cell and the unit behind it; ValueError says in words what is wrong."""
    text = text.replace("\u00a0", " ").replace("\u202f", "").strip()
    if len(text) > 60:
        raise ValueError("that is no number")
    if "," in text:
        if not THOUSANDS.search(text) or "," in THOUSANDS.sub("", text):
            raise ValueError("write decimals with a point")
        text = THOUSANDS.sub(lambda found: found[0].replace(",", ""), text)
    found = CELL.fullmatch(text)
    if not found:
        raise ValueError("that is no number")
    value = float(found[1])
    if not math.isfinite(value):
        raise ValueError("that is no finite number")
    return value, (found[2] or "").strip()


def seconds(text: str, unit: float) -> float:
    """A time in seconds; `unit`: the seconds of one of it, where the cell names none."""
    if clock := CLOCK.fullmatch(text.strip()):
        hours, minutes, rest = clock.groups()
        return 3600 * int(hours or 0) + 60 * int(minutes) + float(rest)
    value, own = number(text)
    if not own:
        return value * unit
    if own.lower() not in SECONDS:
        raise ValueError(f"{own!r} is no unit of time known here (ms, s, min, h)")
    return value * SECONDS[own.lower()]


def plain(text: str) -> float:
    return number(text)[0]
