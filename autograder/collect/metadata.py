"""Read who submitted what, and when, from the tables of Moodle and Gradescope.

the grading worksheet, for --worksheet                                   Moodle
submission_metadata.yml in assignment_77_export                          Gradescope
"""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any

import yaml

from autograder.collect.archives import METADATA
from autograder.collect.download import About
from autograder.errors import SettingsError
from autograder.settings.claims import Claim
from autograder.strict_csv import read_csv

# --- Moodle ---------------------------------------------------------------------------------------

PARTICIPANT = re.compile(r"\D*(\d+)\Z")
ADDRESS = re.compile(r"\S+@\S+\.\S+\Z")
# In English and German: *Last modified (submission)*, `Monday, 2 March 2026, 8:14 PM`.
SUBMISSION = re.compile(r"\((?:submission|abgabe)\)", re.IGNORECASE)
TIME = re.compile(
    r"(?P<day>\d{1,2})\.? (?P<month>[^\W\d_]{3})[^\W\d_]* (?P<year>\d{4})\D+"
    r"(?P<hour>\d{1,2}):(?P<minute>\d\d)\s*(?P<half>[ap]m)?",
    re.IGNORECASE,
)
MONTHS = "jan feb mar|mär apr may|mai jun jul aug sep oct|okt nov dec|dez"
MONTH = {name: at for at, names in enumerate(MONTHS.split(), 1) for name in names.split("|")}


def read_worksheets(paths: Iterable[Path], zone: tzinfo | None) -> dict[str, About]:
    """Return the participants by their number in the assignment."""
    participants: dict[str, About] = {}
    for path in paths:
        for _, row in read_csv(path, ()):
            first, *cells = row.values()
            number = PARTICIPANT.match(first)
            if not number or not cells:
                raise SettingsError(
                    f"{path} is not a grading worksheet of Moodle's. Its first column should have "
                    "entries like `Participant 4701`"
                )
            email = next(filter(ADDRESS.match, cells), "")
            time = next((cell for name, cell in row.items() if SUBMISSION.search(name)), "")
            claim = Claim(cells[0], (("email", email), ("name", cells[0])))
            participants[number[1]] = About((claim,), time_of(time, zone) or time.strip(" -"))
    return participants


def time_of(text: str, zone: tzinfo | None) -> str:
    """Return a time of the worksheet in ISO form, or "" if it is unclear."""
    match = TIME.search(text)
    month = MONTH.get(match["month"].casefold()) if match else None
    if not (match and month):
        return ""
    year, day, hour, minute = (int(match[part]) for part in ("year", "day", "hour", "minute"))
    if match["half"]:
        hour = hour % 12 + 12 * (match["half"].casefold() == "pm")
    try:
        moment = datetime(year, month, day, hour, minute, tzinfo=zone)
    except ValueError:
        return ""
    return (moment if zone else moment.astimezone()).isoformat()


# --- Gradescope -----------------------------------------------------------------------------------

TEXTS = getattr(yaml, "CBaseLoader", yaml.BaseLoader)  # every value stays a text


def gradescope(place: Path) -> dict[str, About]:
    """Return the students and the time of each submission, by its folder."""
    try:
        submissions = yaml.load((place / METADATA).read_bytes(), TEXTS)
        return {name: about(name, without_colons(facts)) for name, facts in submissions.items()}
    except (OSError, ValueError, LookupError, TypeError, AttributeError, yaml.YAMLError):
        raise SettingsError(f"{place / METADATA} is not the metadata of Gradescope's") from None


def without_colons(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {key.lstrip(":"): value for key, value in facts.items()}


def about(name: str, facts: Mapping[str, Any]) -> About:
    claims = [claim(without_colons(person)) for person in facts["submitters"]] or [Claim(name)]
    return About(tuple(claims), str(facts.get("created_at", "")).replace(" Z", "+00:00"))


def claim(person: Mapping[str, Any]) -> Claim:
    email, name, sid = (str(person.get(key) or "") for key in ("email", "name", "sid"))
    ids = [("email", email), *((kind, sid) for kind in ("sis_id", "login", "sis_login"))]
    return Claim(email or name or sid, (*(pair for pair in ids if pair[1]), ("name", name)))
