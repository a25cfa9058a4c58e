"""List a download's items, and the files of each item, including those in archives.

An item is a folder, an archive or a file that was submitted.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from typing import NamedTuple

from autograder.codes import FindingCode
from autograder.collect import archives
from autograder.notes import Note
from autograder.safe_text import shortened
from autograder.settings.claims import Claim
from autograder.submissions import class_folder
from autograder.submissions.doubts import note_of
from autograder.submissions.kinds import COPIED, Kind, kind_of
from autograder.submissions.lesson_files import UNREAD
from autograder.submissions.walk import Entry, Walk

UNPACKED = COPIED | {Kind.TIMESTAMP, Kind.UNREAD_ANSWERS, Kind.ARCHIVE, Kind.UNOPENED_ARCHIVE}


@dataclass(frozen=True, slots=True)
class Item:
    """One folder, archive or file of a download."""

    path: Path
    claims: tuple[Claim, ...]  # one for each student who shares the submission
    called: str = ""  # the student's own file name, without the platform's prefix
    lesson: str = ""  # from the platform's name; a lesson found in the outputs takes precedence
    submitted: str = ""  # the platform's time with its offset or zone, as `moment_of` reads it
    late: bool = False  # marked late by the platform
    upload: int = 0  # the platform's upload number; later uploads have larger ones
    label: str = ""  # distinguishes attempts and downloads of the same student
    number: str = ""  # the student's number on the platform


class About(NamedTuple):
    """The students and the time that a table of the platform gives for a submission."""

    claims: tuple[Claim, ...]
    time: str


def listed(place: Path) -> list[Entry]:
    return class_folder.listed(place, "a folder or archive downloaded from a platform")


# --- the files of an item -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Piece:
    """A submitted file, perhaps unpacked from an archive, with the item that contained it."""

    path: Path
    name: PurePath  # as the student knows it; inside an archive, it starts with the archive
    kind: Kind
    item: Item


def pieces_of(item: Item, stack: ExitStack) -> tuple[list[Piece], list[Note]]:
    """Return an item's files, and doubts about files that were left out.

    Closing `stack` removes the temporary folders of unpacked archives.
    """
    walk = Walk()
    name = PurePath(item.label)
    if not item.path.is_dir():
        name /= item.called or item.path.name
    pieces = []
    for piece in opened(item, walk, name, stack):
        if code := UNREAD.get(piece.kind):
            walk.doubts.append(note_of(code, shortened(piece.name)))
        elif piece.kind != Kind.CLUTTER:
            pieces.append(piece)
    return pieces, walk.doubts


def opened(item: Item, walk: Walk, name: PurePath, stack: ExitStack) -> Iterator[Piece]:
    """Yield an item's files, including the files in its archives.

    Archived files that are not read are created empty, because their names may still be useful.
    """
    for found in walk.files(item.path, name):
        if found.kind != Kind.ARCHIVE:
            yield Piece(*found, item)
            continue
        target = Path(stack.enter_context(TemporaryDirectory(prefix="autograder-")))
        walk.doubts += archives.unpack(
            found.path,
            shortened(found.name),
            target,
            named_alone=lambda path: kind_of(path.name) not in UNPACKED,
        )
        for inner in walk.files(target, found.name):
            if inner.kind == Kind.ARCHIVE:
                doubt = note_of(FindingCode.ARCHIVE_WITHIN, shortened(inner.name), "not opened")
                walk.doubts.append(doubt)
            else:
                yield Piece(*inner, item)
