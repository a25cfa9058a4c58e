"""Walk through a student's files, and open them: only regular files, and without ever blocking.

Links are not followed. Opening a pipe blocks until somebody writes into it. A file may be replaced
after its folder was listed, so the kind is checked on the opened file itself.
"""

import os
import stat
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from io import BufferedReader
from itertools import islice
from pathlib import Path, PurePath
from typing import NamedTuple

from autograder.codes import FindingCode
from autograder.notes import Note
from autograder.safe_text import shortened
from autograder.submissions.doubts import note_of
from autograder.submissions.kinds import Kind, is_clutter, kind_of

Entry = os.DirEntry[str]
MAX_ENTRIES = 10_000
MAX_DEPTH = 8


class Found(NamedTuple):
    """A file found by Walk."""

    path: Path
    name: PurePath  # as the student knows it
    kind: Kind


@dataclass(slots=True)
class Walk:
    """The number of entries visited so far, and doubts about entries that were left out."""

    doubts: list[Note] = field(default_factory=list)
    entries: int = 0

    def files(self, place: Path, name: PurePath) -> Iterator[Found]:
        """Yield all files below the folder `place`, or `place` itself if it is a file."""
        try:
            mode = place.lstat().st_mode
            if stat.S_ISDIR(mode):
                for entry in self.listed(place, name):
                    yield from self.files(Path(entry.path), name / entry.name)
            elif stat.S_ISLNK(mode):
                self.leave_out(name, "a link, which is not followed")
            elif not stat.S_ISREG(mode):
                self.leave_out(name, "a pipe, socket or device")
            else:
                yield Found(place, name, kind_of(name.name))
        except OSError as error:
            self.leave_out(name, f"cannot be opened: {why(error)}")

    def listed(self, place: Path, name: PurePath) -> list[Entry]:
        """Return the entries of a folder, sorted by name, up to the limits."""
        if len(name.parts) > MAX_DEPTH:
            self.leave_out(name, "folders within folders, too deep")
            return []
        entries = scan(place, max(MAX_ENTRIES - self.entries, 0) + 1)
        self.entries += len(entries)
        if entries and self.entries > MAX_ENTRIES:
            self.leave_out(name, f"more than {MAX_ENTRIES:,} files; the rest was not looked at")
            entries.pop()
        return [entry for entry in entries if not is_clutter(entry.name)]

    def leave_out(self, name: PurePath, what: str) -> None:
        file = shortened(name) if name.parts else ""
        self.doubts.append(note_of(FindingCode.LEFT_OUT, file, what))


def scan(place: Path | str, most: int | None = None) -> list[Entry]:
    """Return the entries of a folder, at most this many, sorted by name."""
    with os.scandir(place) as entries:
        return sorted(islice(entries, most), key=lambda entry: entry.name)


def holds(place: Path, kinds: Container[Kind]) -> bool:
    """Return whether a folder has a file of one of these kinds, or entries that are left out."""
    walk = Walk()
    files = walk.files(place, PurePath()) if place.is_dir() and not place.is_symlink() else ()
    return any(file.kind in kinds for file in files) or bool(walk.doubts)


def open_regular(path: Path) -> BufferedReader:
    """Open a regular file for reading. Otherwise raise OSError with the reason."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(None, "this is no regular file")
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def why(error: OSError) -> str:
    return error.strerror or type(error).__name__
