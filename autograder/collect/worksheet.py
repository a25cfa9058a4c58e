"""Read Moodle's grading worksheet, which contains students' addresses and submission times."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, tzinfo
from pathlib import Path

from autograder.collect.download import About, Item
from autograder.errors import SettingsError
from autograder.settings.claims import Claim
from autograder.strict_csv import read_csv

PARTICIPANT = re.compile(r"\D*(\d+)\Z")
ADDRESS = re.compile(r"\S+@\S+\.\S+\Z")
# Moodle's English and German: *Last modified (submission)*, `Monday, 2 March 2026, 8:14 PM`.
SUBMISSION = re.compile(r"\((?:submission|abgabe)\)", re.IGNORECASE)
MONTHS = (
    "jan feb mar apr may jun jul aug sep oct nov dec",
    "jan feb mär apr mai jun jul aug sep okt nov dez",
)
NUMBER_OF = {name: at for names in MONTHS for at, name in enumerate(names.split(), 1)}
TIME = re.compile(
    r"(?P<day>\d{1,2})\.? (?P<month>[^\W\d_]{3})[^\W\d_]* (?P<year>\d{4})\D+"
    r"(?P<hour>\d{1,2}):(?P<minute>\d\d)\s*(?P<half>[ap]m)?",
    re.IGNORECASE,
)


def read_worksheets(paths: Iterable[Path]) -> dict[str, About]:
    """Return the participants by their number in the assignment."""
    found: dict[str, About] = {}
    for path in paths:
        for _, row in read_csv(path, ()):
            first, *cells = row.values()
            number = PARTICIPANT.match(first)
            if not number:
                raise SettingsError(
                    f"{path} is not a grading worksheet of Moodle's. Its first column should have "
                    "entries like `Participant 4701`"
                )
            email = next(filter(ADDRESS.match, cells), "")
            time = next((cell for name, cell in row.items() if SUBMISSION.search(name)), "")
            claim = Claim(cells[0], (("email", email), ("name", cells[0])))
            found[number[1]] = About((claim,), time.strip(" -"))
    return found


def with_participants(
    items: Iterable[Item], known: Mapping[str, About], zone: tzinfo | None
) -> Iterator[Item]:
    """Yield the items with the email address and the time from the worksheet."""
    for item in items:
        if about := known.get(item.number):
            [claim] = item.claims
            claims = (replace(claim, ids=(*about.claims[0].ids, *claim.ids)),)
            time = time_of(about.time, zone) or about.time
            item = replace(item, claims=claims, submitted=time)
        yield item


def time_of(text: str, zone: tzinfo | None) -> str:
    """Return a time of the worksheet in ISO form, or "" if it is unclear."""
    found = TIME.search(text)
    month = NUMBER_OF.get(found["month"].casefold()) if found else None
    if not (found and month):
        return ""
    hour = int(found["hour"])
    if found["half"]:
        hour = hour % 12 + 12 * (found["half"].casefold() == "pm")
    year, day, minute = (int(found[part]) for part in ("year", "day", "minute"))
    try:
        moment = datetime(year, month, day, hour, minute, tzinfo=zone)
    except ValueError:
        return ""
    return (moment if zone else moment.astimezone()).isoformat()
