"""Sort a student's files of one lesson by kind.

Copies count once, and names are as short as possible while still distinct.
"""

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from autograder.codes import FindingCode
from autograder.grouping import grouped
from autograder.notes import Note
from autograder.safe_text import shortened
from autograder.submissions.doubts import MOST, note_of
from autograder.submissions.kinds import Kind
from autograder.submissions.walk import Found, Walk, open_regular

MOST_OTHERS = 3
DICTIONARIES = {
    Kind.OUTPUT: "outputs",
    Kind.ANSWERS: "answers",
    Kind.REPORT: "reports",
    Kind.PROGRAM: "programs",
}
UNREAD = {
    Kind.UNREAD_ANSWERS: FindingCode.ANSWERS_NOT_TEXT,
    Kind.UNOPENED_ARCHIVE: FindingCode.ARCHIVE_UNOPENED,
    Kind.ARCHIVE: FindingCode.ARCHIVE_CLOSED,
}


@dataclass(slots=True)
class LessonFiles:
    """One student's files for one lesson (None: the outputs name the lesson)."""

    lesson: str | None
    outputs: dict[Path, str] = field(default_factory=dict)  # path -> displayed name
    answers: dict[Path, str] = field(default_factory=dict)
    reports: dict[Path, str] = field(default_factory=dict)
    programs: dict[Path, str] = field(default_factory=dict)
    others: list[str] = field(default_factory=list)  # some files of kinds that are not read
    findings: list[Note] = field(default_factory=list)

    @property
    def digest(self) -> str:
        """Return a hash of the names and contents of all files that are read."""
        read = self.outputs | self.answers | self.reports | self.programs
        lines = sorted(f"{name} {digest_of(path).hex()}" for path, name in read.items())
        text = "\n".join(lines).encode("utf-8", "replace")
        return hashlib.blake2b(text, digest_size=8).hexdigest()

    def add(self, file: Found) -> None:
        if name := DICTIONARIES.get(file.kind):
            getattr(self, name)[file.path] = shortened(file.name)
        elif code := UNREAD.get(file.kind):
            self.doubt(note_of(code, shortened(file.name)))
        elif file.kind == Kind.OTHER and len(self.others) < MOST_OTHERS:
            self.others.append(shortened(file.name, 80))

    def doubt(self, doubt: Note) -> None:
        if len(self.findings) < MOST:
            self.findings.append(doubt)


def read_places(lesson: str | None, places: Sequence[Path], archives: bool = True) -> LessonFiles:
    """Return the files in the folders of one lesson.

    If `archives` is false, archives are ignored, because in a student's own folder they are old
    packages.
    """
    files, walk = LessonFiles(lesson), Walk()
    for place in places:
        is_named = place.is_file() or len(places) > 1
        for file in walk.files(place, PurePath(place.name) if is_named else PurePath()):
            if archives or file.kind not in (Kind.ARCHIVE, Kind.UNOPENED_ARCHIVE):
                files.add(file)
    for doubt in walk.doubts:
        files.doubt(doubt)
    join(files)
    return files


def join(files: LessonFiles) -> None:
    """Join the files from all places of a lesson: remove copies and shorten names.

    If all files are in one place, `you.zip/02_serial/a.out` becomes `a.out`.
    """
    read = (files.outputs, files.answers, files.reports)
    for kind in read:
        count_copies_once(kind)
    parents = [PurePath(name).parent for kind in read for name in kind.values()]
    common = os.path.commonpath(parents) if parents else ""
    for kind in (*read, files.programs):
        for path, name in kind.items():
            kind[path] = name.removeprefix(f"{common}/")


def count_copies_once(files: dict[Path, str]) -> None:
    """Remove copies: a file can also be in the package that `lessons submit` created."""
    in_order = sorted(files, key=lambda path: len(PurePath(files[path]).parts))
    by_name = grouped((PurePath(files[path]).name.lower(), path) for path in in_order)
    for same in by_name.values():
        seen = set[bytes]()
        for path in same if len(same) > 1 else ():
            digest = digest_of(path)
            if digest in seen:
                del files[path]
            seen.add(digest)


def digest_of(path: Path) -> bytes:
    try:
        with open_regular(path) as file:
            return hashlib.file_digest(file, "blake2b").digest()
    except OSError:  # the error is reported when the file is read
        return os.fsencode(path)
