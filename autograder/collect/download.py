"""List a download's items, and the files of each item, including those in archives.

An item is a folder, an archive or a file that was submitted.
"""

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
from autograder.submissions.doubts import note_of
from autograder.submissions.kinds import Kind
from autograder.submissions.lesson_files import UNREAD
from autograder.submissions.walk import Found, Walk


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
    walk, files = Walk(), list[Found]()
    name = PurePath(item.label)
    if not item.path.is_dir():
        name /= item.called or item.path.name
    for file in walk.files(item.path, name):
        if file.kind == Kind.ARCHIVE:
            target = Path(stack.enter_context(TemporaryDirectory(prefix="autograder-")))
            walk.doubts += archives.unpack(file.path, shortened(file.name), target)
            files += walk.files(target, file.name)
        else:
            files.append(file)
    codes = UNREAD | {Kind.ARCHIVE: FindingCode.ARCHIVE_WITHIN}
    doubts = [note_of(codes[f.kind], shortened(f.name)) for f in files if f.kind in codes]
    left_out = {*codes, Kind.CLUTTER}
    return [Piece(*f, item) for f in files if f.kind not in left_out], [*walk.doubts, *doubts]
