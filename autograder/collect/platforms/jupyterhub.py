"""Read JupyterHub's exchange folder `inbound`, or the course folder that contains it.

ada+02_serial+2026-03-01 20:00:00.123456 UTC+8fK3_aZ-q0Lm/
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from autograder.collect.download import Entry, Item
from autograder.settings.claims import Claim, WhoIs

INNER = "inbound"
NAME = re.compile(
    r"(?P<name>[^+]+)\+(?P<lesson>[^+]+)\+(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)? .+?)"
    r"(?:\+[\w-]{12})?\Z"
)


def looks_like(place: Path, entries: Sequence[Entry]) -> bool:
    return any(NAME.match(entry.name) or entry.name == INNER for entry in entries)


def items(place: Path, entries: Sequence[Entry], who: WhoIs) -> Iterator[Item]:
    for entry in entries:
        if match := NAME.match(entry.name):
            lesson, time = match["lesson"], match["time"]
            path = Path(entry.path)
            label = f"{lesson}+{time}"
            yield Item(path, (Claim(match["name"]),), "", lesson, time, label=label)
