"""List the items of a download, their files, also in archives, and the attempt that counts.

An item is a folder, an archive or a file that was submitted.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from typing import NamedTuple

from autograder.codes import FindingCode
from autograder.collect import archives
from autograder.grouping import grouped
from autograder.notes import Note
from autograder.safe_text import shortened
from autograder.settings.claims import Claim
from autograder.submissions.class_folder import COURSES, listed, noted_time
from autograder.submissions.doubts import note_of
from autograder.submissions.kinds import WORK, Kind
from autograder.submissions.lesson_files import UNREAD
from autograder.submissions.moments import latest, seconds_of
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
    doubts: tuple[Note, ...] = ()


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
    walk, files = Walk([*item.doubts]), list[Found]()
    name = PurePath(item.label)
    if not item.path.is_dir():
        name /= item.called or item.path.name
    for file in chain.from_iterable(walk.files(*part) for part in parts_of(item.path, name)):
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


def parts_of(place: Path, name: PurePath) -> list[tuple[Path, PurePath]]:
    """Return the parts of an item that are the student's work, with their names.

    In a clone of the whole course, these are the folders of lessons with outputs or answers.
    """
    lessons = place / "lessons"
    if not (place / "autograder").is_dir() or not lessons.is_dir() or lessons.is_symlink():
        return [(place, name)]
    folders = (Path(entry.path) for entry in listed(lessons) if COURSES.match(entry.name))
    return [
        (path, name / "lessons" / path.name)
        for path in folders
        if any(file.kind in WORK for file in Walk().files(path, PurePath()))
    ]


# --- attempts: downloads or, in JupyterHub's exchange, folders ------------------------------------


def submitted(pieces: Sequence[Piece]) -> tuple[str, list[Note]]:
    """Return when the last of these files was submitted, which is when the work was complete."""
    working = {piece.item.label for piece in pieces if piece.kind in WORK}
    times, doubts = list[str](), list[Note]()
    for piece in pieces:
        if not working or piece.item.label in working:
            times.append(piece.item.submitted)
            if piece.kind == Kind.TIMESTAMP and not piece.item.submitted:
                time, unread = noted_time(piece.path, shortened(piece.name, 80))
                times.append(time)
                doubts += unread
    return latest(times), doubts


def keep_latest(pieces: Sequence[Piece], items: Sequence[Item]) -> tuple[list[Piece], list[Note]]:
    """Leave out all attempts with outputs or answers except the last one.

    The platform's time decides which one is the last, then Canvas's upload number, then the order
    of the downloads, which `items` have.
    """
    attempts = grouped((piece.item.label, piece) for piece in pieces)
    labels = dict.fromkeys(item.label for item in items)
    working = [name for name in labels if any(p.kind in WORK for p in attempts.get(name, ()))]

    def place(label: str) -> tuple[float, int, int]:
        upload = max(piece.item.upload for piece in attempts[label])
        return seconds_of(submitted(attempts[label])[0]) or 0.0, upload, working.index(label)

    dropped = sorted({*working} - {max(working, key=place, default="")})
    if not dropped:
        return [*pieces], []
    detail = shortened("left out: " + ", ".join(shortened(label, 80) for label in dropped), 300)
    left = [piece for piece in pieces if piece.item.label not in dropped]
    return left, [note_of(FindingCode.LATEST_COUNTS, shortened(dropped[0], 80), detail)]
