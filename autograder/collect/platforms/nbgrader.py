"""Read nbgrader's `submitted` folder, or the course folder above it.

submitted/ada/02_serial/…, with timestamp.txt for the time of submission
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from autograder.collect.download import Entry, Item, is_dir, listed
from autograder.settings.claims import Claim, WhoIs
from autograder.submissions.class_folder import noted_time
from autograder.submissions.kinds import TIMESTAMP

INNER = "submitted"


def looks_like(place: Path, entries: Sequence[Entry]) -> bool:
    return any(entry.name == INNER for entry in entries) or any(
        (Path(inner.path) / TIMESTAMP).is_file()
        for entry in filter(is_dir, entries)
        for inner in filter(is_dir, listed(Path(entry.path)))
    )


def items(place: Path, entries: Sequence[Entry], who: WhoIs) -> Iterator[Item]:
    for student in filter(is_dir, entries):
        for lesson in filter(is_dir, listed(Path(student.path))):
            path = Path(lesson.path)
            yield Item(
                path,
                (Claim(student.name),),
                "",
                lesson.name,
                noted_time(path / TIMESTAMP)[0],
                label=lesson.name,
            )
