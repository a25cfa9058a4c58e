"""Read Gradescope's *Export Submissions*, or the single folder that its autograder receives.

assignment_77_export/submission_9001/… beside submission_metadata.yml
/autograder/submission/… beside submission_metadata.json
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import yaml

from autograder.collect.download import Entry, Item
from autograder.settings.claims import Claim, WhoIs
from autograder.submissions.regular_files import start_of

EXPORT, ALONE = "submission_metadata.yml", "submission_metadata.json"
NAME = re.compile(r"submission_\d{1,18}\Z")
# Lines as Ruby writes them. Reading by line keeps memory use below the size of the file.
FOLDER = re.compile(r"(submission_\d{1,18}):\s*\Z")
FIELD = re.compile(r"  :(\w+):(?: &\d+)?(?: (.{1,300}))?\Z")
PERSON = re.compile(r"  (- |  ):(name|sid|email):(?: &\d+)? (.{1,300})\Z")
LARGEST = 32 << 20  # bytes


@dataclass(slots=True)
class Metadata:
    people: list[dict[str, str]] = field(default_factory=list)
    created: str = ""


def looks_like(place: Path, entries: Sequence[Entry]) -> bool:
    return any(entry.name == EXPORT for entry in entries) or (place.parent / ALONE).is_file()


def items(place: Path, entries: Sequence[Entry], who: WhoIs) -> Iterator[Item]:
    if (place.parent / ALONE).is_file():
        yield Item(place, (Claim(student_alone(place.parent / ALONE)),))
        return
    told = read_export(place / EXPORT)
    for entry in entries:
        if NAME.match(entry.name):
            about = told.get(entry.name, Metadata())
            claims = tuple(map(submitter, about.people)) or (Claim(entry.name),)
            yield Item(Path(entry.path), claims, submitted=about.created)


def student_alone(metadata: Path) -> str:
    try:
        user = json.loads(start_of(metadata, LARGEST))["users"][0]
        return str(user.get("email") or user.get("name") or user["id"])
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return "submission"


def read_export(path: Path) -> dict[str, Metadata]:
    """Return submitters and times by folder. Lines that cannot be read are ignored."""
    found: dict[str, Metadata] = {}
    about, inside = Metadata(), ""
    for line in start_of(path, LARGEST).decode("utf-8", "replace").splitlines():
        if folder := FOLDER.match(line):
            about, inside = found.setdefault(folder[1], Metadata()), ""
        elif match := FIELD.match(line):
            inside = match[1]
            if inside == "created_at":
                time = plain_value(match[2] or "")
                about.created = time.isoformat(" ") if isinstance(time, datetime) else ""
        elif inside == "submitters" and (match := PERSON.match(line)):
            if match[1] == "- ":
                about.people.append({})
            if about.people:
                text = plain_value(match[3], yaml.BaseLoader)
                is_text = isinstance(text, str) and text not in ("~", "null")
                about.people[-1][match[2]] = str(text).strip() if is_text else ""
    return found


def plain_value(text: str, loader: type = yaml.SafeLoader) -> object:
    try:
        return yaml.load(text, loader)
    except (ValueError, yaml.YAMLError):  # an alias, or 31 February
        return None


def submitter(about: dict[str, str]) -> Claim:
    name, sid, email = (about.get(key, "") for key in ("name", "sid", "email"))
    ids = (("email", email), ("sis_id", sid), ("login", sid), ("sis_login", sid))
    return Claim(email or name or sid or "submission", name, tuple(one for one in ids if one[1]))
