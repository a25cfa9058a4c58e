"""Read submission times in the formats that tools write."""

from collections.abc import Iterable
from datetime import UTC, datetime

from autograder.errors import SettingsError

YEARS = range(2000, 2101)  # the year 0206 is a typing error for 2026


def moment_of(text: str | None) -> datetime | None:
    """Return the time that a text gives in ISO form or in nbgrader's form.

    nbgrader writes `2015-02-02 14:58:23 America/Los_Angeles`.
    """
    if not text:
        return None
    text = text.strip()
    day, rest = text[:10], text[11:]
    clock, _, zone = rest.partition(" ")
    try:
        moment = datetime.fromisoformat(f"{day}T{clock}")
        if moment.tzinfo is None:
            from zoneinfo import ZoneInfo

            moment = moment.replace(tzinfo=ZoneInfo(zone))
    except (ValueError, LookupError, OSError):
        return None
    return moment if moment.year in YEARS else None


def read_moment(text: str, where: str) -> datetime:
    """Return a time in an instructor's file, or raise SettingsError."""
    if (moment := moment_of(text)) is None:
        example = "of this century with an offset, like 2026-03-01T23:59+01:00"
        raise SettingsError(f"{where}: {text!r} is not a time {example}")
    return moment


def seconds_of(text: str | None) -> float | None:
    moment = moment_of(text)
    return moment.astimezone(UTC).timestamp() if moment else None


def latest(times: Iterable[str]) -> str:
    """Return the last of these times, or an empty string."""
    return max(times, key=lambda time: (seconds_of(time) or 0.0, time), default="")
