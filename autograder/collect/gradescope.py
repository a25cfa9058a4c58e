"""Gradescope's *Export Submissions*, or the one folder that its autograder is given.

assignment_77_export/submission_9001/… beside submission_metadata.yml
/autograder/submission/… beside submission_metadata.json
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path

import yaml

from autograder.collect.download import Entry, Item
from autograder.settings.claims import Claim, WhoIs
from autograder.submissions.regular_files import open_regular

EXPORT, ALONE = "submission_metadata.yml", "submission_metadata.json"
NAME = re.compile(r"submission_\d{1,18}\Z")
LARGEST = 32 << 20  # bytes of the metadata
LEVELS = 4  # folder, its fields, the list of submitters, the fields of each
DEEPEST = 100  # further levels, of what the autograder of the class said
LONGEST_NAME = 300
TIMESTAMP = yaml.SafeLoader.timestamp_regexp
Data = str | tuple[bool, list["Data"]] | None  # the list is a map's keys and values, if True


def looks_like(place: Path, entries: Sequence[Entry]) -> bool:
    return any(entry.name == EXPORT for entry in entries) or (place.parent / ALONE).is_file()


def items(place: Path, entries: Sequence[Entry], who: WhoIs) -> Iterator[Item]:
    if (place.parent / ALONE).is_file():
        yield Item(place, (Claim(student_alone(place.parent / ALONE)),))
        return
    told = read_export(place / EXPORT)
    for entry in entries:
        about = told.get(entry.name)
        if about is not None or NAME.match(entry.name):
            claims, time = about or ((), None)
            path = Path(entry.path)
            yield Item(path, claims or (Claim(entry.name),), submitted=time or "")


def student_alone(metadata: Path) -> str:
    try:
        with open_regular(metadata) as file:
            users = json.load(file)["users"]
        return str(users[0].get("email") or users[0].get("name") or users[0]["id"])
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return "submission"


def read_export(path: Path) -> dict[str, tuple[tuple[Claim, ...], str | None]]:
    """Return submitters and times by folder. What cannot be read tells nothing."""
    try:
        with open_regular(path) as file:
            told = plain_yaml(file.read(LARGEST))
    except (OSError, ValueError, yaml.YAMLError):
        return {}
    found = {}
    for folder, about in pairs(told):
        if not (fields := dict(pairs(about))):
            continue
        submitters = fields.get(":submitters")
        people = submitters[1] if isinstance(submitters, tuple) else []
        claims = tuple(submitter(dict(pairs(one))) for one in people if pairs(one))
        found[folder] = (claims, moment(fields.get(":created_at")))
    return found


def submitter(about: Mapping[str, Data]) -> Claim:
    name, sid, email = (word(about.get(key)) for key in (":name", ":sid", ":email"))
    ids = (("email", email), ("sis_id", sid), ("login", sid), ("sis_login", sid))
    return Claim(email or name or sid or "submission", name, tuple(one for one in ids if one[1]))


def word(value: Data) -> str:
    """A name or number as it is written; nothing, if it is a list or longer than any name."""
    if not isinstance(value, str) or len(value) > LONGEST_NAME or value in ("~", "null"):
        return ""
    return value.strip()


def moment(value: Data) -> str | None:
    text = word(value)
    try:
        time = yaml.safe_load(text) if TIMESTAMP.match(text) else None
    except ValueError:  # a 31st of February
        return None
    return time.isoformat(" ") if isinstance(time, datetime) else None


def plain_yaml(data: bytes) -> Data:
    """The upper levels of a YAML file: words, and lists and maps as what they are and what is in
    them. An alias tells nothing, and nothing is built of what lies deeper: a few lines could ask
    for more than any memory, or for more levels than the library's own stack has. Raises
    ValueError or YAMLError."""
    top: list[Data] = []
    open_lists = [top]
    below = 0  # levels that are only counted
    for event in yaml.parse(data, yaml.CSafeLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            if below or len(open_lists) > LEVELS:
                below += 1
                if below > DEEPEST:  # the library's time grows with the square of the levels
                    raise ValueError("too many levels")
                continue
            inside: list[Data] = []
            open_lists[-1].append((isinstance(event, yaml.MappingStartEvent), inside))
            open_lists.append(inside)
        elif isinstance(event, yaml.CollectionEndEvent):
            if below:
                below -= 1
                if not below:
                    open_lists[-1].append(None)
            else:
                open_lists.pop()
        elif not below and isinstance(event, yaml.ScalarEvent | yaml.AliasEvent):
            open_lists[-1].append(getattr(event, "value", None))
    return top[0] if top else None


def pairs(value: Data) -> list[tuple[str, Data]]:
    """Of a map; of anything else there are none."""
    if not isinstance(value, tuple) or not value[0]:
        return []
    both = zip(value[1][::2], value[1][1::2], strict=True)
    return [(key, about) for key, about in both if isinstance(key, str)]
