"""Read Canvas's Download Submissions result: one folder with all files of all students.

lovelaceada_101_2002_train.zip
lovelaceada_LATE_101_2002_train.zip
leeweizo_103_text.html
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from autograder.collect.download import Entry, Item, named
from autograder.settings.claims import Claim, WhoIs
from autograder.submissions.kinds import TYPED

NAME = re.compile(
    r"(?P<name>[^\W\d_][^_]*?)(?P<late>_LATE)?_(?P<id>\d{1,18})_"
    r"(?:(?P<upload>\d{1,18})_(?P<called>.+)|(?P<typed>text|link)\.html)\Z",
    re.DOTALL,
)


def looks_like(place: Path, entries: Sequence[Entry]) -> bool:
    return sum(bool(NAME.match(entry.name)) for entry in entries) > len(entries) / 2


def items(place: Path, entries: Sequence[Entry], who: WhoIs) -> Iterator[Item]:
    for entry, match, is_unique in named(entries, NAME):
        name = match["name"]
        spelt = name if is_unique else f"{name}_{match['id']}"
        claim = Claim(spelt, name, (("canvas_id", match["id"]),))
        called = match["called"] or (TYPED if match["typed"] == "text" else entry.name)
        late, upload = bool(match["late"]), int(match["upload"] or 0)
        yield Item(Path(entry.path), (claim,), called, late=late, upload=upload)
