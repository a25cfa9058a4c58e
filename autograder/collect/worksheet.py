"""Read Moodle's grading worksheet, which contains students' addresses and submission times."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, tzinfo
from pathlib import Path
from typing import NamedTuple

from autograder.collect.download import Item
from autograder.errors import SettingsError
from autograder.strict_csv import read_csv

PARTICIPANT = re.compile(r"\D*(\d+)\Z")
ADDRESS = re.compile(r"\S+@\S+\.\S+\Z")
# Column names are translated: Moodle's English, German, French, Spanish and Italian ones.
SUBMISSION = re.compile(r"\((?:submission|abgabe|remise|entrega|envío|consegna)\)", re.IGNORECASE)
MONTHS = (
    ("jan", "ene", "gen"), ("feb", "fév"), ("mar", "mär"), ("apr", "avr", "abr"),
    ("may", "mai", "mag"), ("jun", "jui", "giu"), ("jul", "lug"), ("aug", "aoû", "ago"),
    ("sep", "set"), ("oct", "okt", "ott"), ("nov",), ("dec", "dez", "déc", "dic"),
)  # fmt: skip
NUMBER_OF = {name: number for number, names in enumerate(MONTHS, 1) for name in names}
TIME = re.compile(
    r"(?P<day>\d{1,2})\.? (?:de )?(?P<month>[^\W\d_]{3})[^\W\d_]*\.? (?:de )?(?P<year>\d{4})"
    r".*?(?P<hour>\d{1,2})[:.](?P<minute>\d\d)(?:[:.]\d\d)?\s*(?P<half>[ap]m)?",
    re.IGNORECASE,
)


class Participant(NamedTuple):
    """A line of the worksheet."""

    email: str
    changed: str  # *Last modified (submission)*, unchanged


def read_worksheets(paths: Iterable[Path]) -> dict[str, Participant]:
    """Return the participants by their number in the assignment."""
    found: dict[str, Participant] = {}
    for path in paths:
        for _, row in read_csv(path, ()):
            number = PARTICIPANT.match(next(iter(row.values())))
            if not number:
                raise SettingsError(
                    f"{path} is not a grading worksheet of Moodle's. Its first column should have "
                    "entries like `Participant 4701`"
                )
            email = next(filter(ADDRESS.match, row.values()), "")
            changed = next((cell for name, cell in row.items() if SUBMISSION.search(name)), "")
            found[number[1]] = Participant(email, changed)
    return found


def with_participants(
    items: Iterable[Item], known: Mapping[str, Participant], zone: tzinfo | None
) -> Iterator[Item]:
    """Yield the items with the email address and the time from the worksheet."""
    for item in items:
        [claim] = item.claims
        if participant := known.get(dict(claim.ids).get("moodle_id", "")):
            if participant.email:
                claim = replace(claim, ids=(("email", participant.email),))
            time = time_of(participant.changed, zone) or participant.changed.strip(" -")
            item = replace(item, claims=(claim,), submitted=time)
        yield item


def time_of(text: str, zone: tzinfo | None) -> str:
    """Return a time such as `Monday, 2 March 2026, 8:14 PM` in ISO form, or "" if it is unclear."""
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
