"""Read Moodle's *Download all submissions*, and its grading worksheet.

Ada Lovelace_4701_assignsubmission_file_/…
Ada Lovelace_4701_assignsubmission_onlinetext_/onlinetext.html
Team 1-Ada Lovelace_4701_assignsubmission_file_work.zip
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from pathlib import Path

from autograder.collect.download import Entry, Item, is_dir, named
from autograder.errors import SettingsError
from autograder.settings.claims import Claim, WhoIs
from autograder.strict_csv import read_csv
from autograder.submissions.kinds import TYPED

NAME = re.compile(
    r"(?P<name>.+)_(?P<id>\d{1,12})_assignsubmission_(?P<kind>[a-z]+)_?(?P<called>.*)\Z", re.DOTALL
)


def looks_like(place: Path, entries: Sequence[Entry]) -> bool:
    return any(NAME.match(entry.name) for entry in entries)


def items(place: Path, entries: Sequence[Entry], who: WhoIs) -> Iterator[Item]:
    for entry, match, is_unique in named(entries, NAME):
        typed = match["kind"] == "onlinetext" and not is_dir(entry)
        apart = f"{match['name']}_{match['id']}_assignsubmission_"
        claim = Claim(
            match["name"] if is_unique else apart,
            match["name"],
            (("moodle_id", match["id"]),),
            lasting=False,
        )
        yield Item(Path(entry.path), (claim,), TYPED if typed else match["called"])


# --- the worksheet ------------------------------------------------------------------------------

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
DAY = re.compile(r"(\d{1,2})\.? (?:de )?([^\W\d_]{3})[^\W\d_]*\.? (?:de )?(\d{4})")
CLOCK = re.compile(r"(\d{1,2})[:.](\d\d)(?:[:.]\d\d)?\s*([ap]m)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Participant:
    """A line of the worksheet."""

    email: str
    changed: str  # *Last modified (submission)*, unchanged


def read_worksheets(paths: Iterable[Path]) -> dict[str, Participant]:
    """Return the participants by their number in the assignment."""
    found: dict[str, Participant] = {}
    for path in paths:
        for _, row in read_csv(path, ()):
            cells = list(row.items())
            number = PARTICIPANT.match(cells[0][1])
            if not number:
                raise SettingsError(
                    f"{path} is not a grading worksheet of Moodle's. Its first column should have "
                    "entries like `Participant 4701`"
                )
            email = next((cell for _, cell in cells if ADDRESS.match(cell)), "")
            changed = next((cell for name, cell in cells if SUBMISSION.search(name)), "")
            found[number[1]] = Participant(email, changed)
    return found


def with_participants(
    found: Iterable[Item], known: dict[str, Participant], zone: tzinfo | None
) -> Iterator[Item]:
    """Yield the items with the email address and the time from the worksheet."""
    for item in found:
        [claim] = item.claims
        participant = known.get(dict(claim.ids)["moodle_id"])
        if participant is None:
            yield item
            continue
        time = time_of(participant.changed, zone)
        if participant.email:
            claim = replace(claim, ids=(("email", participant.email),), lasting=True)
        yield replace(item, claims=(claim,), submitted=time or participant.changed.strip(" -"))


def time_of(text: str, zone: tzinfo | None) -> str:
    """Return a time such as `Monday, 2 March 2026, 8:14 PM` in ISO form, or "" if it is unclear."""
    day = DAY.search(text)
    clock = CLOCK.search(text, day.end()) if day else None
    month = NUMBER_OF.get(day[2].casefold()) if day else None
    if not (day and clock and month):
        return ""
    hour = int(clock[1])
    if half := (clock[3] or "").casefold():
        hour = hour % 12 + 12 * (half == "pm")
    try:
        moment = datetime(int(day[3]), month, int(day[1]), hour, int(clock[2]), tzinfo=zone)
    except ValueError:
        return ""
    return (moment if zone else moment.astimezone()).isoformat()
