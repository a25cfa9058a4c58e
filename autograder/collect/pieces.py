"""List the files of a submission, including those in archives."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory

from autograder.codes import FindingCode
from autograder.collect import archives
from autograder.collect.download import Item
from autograder.safe_text import shortened
from autograder.submissions.doubts import Doubt
from autograder.submissions.kinds import COPIED, Kind, kind_of
from autograder.submissions.lesson_files import UNREAD
from autograder.submissions.walk import Walk

UNPACKED = COPIED | {Kind.TIMESTAMP, Kind.UNREAD_ANSWERS, Kind.ARCHIVE, Kind.UNOPENED_ARCHIVE}


@dataclass(frozen=True, slots=True)
class Piece:
    """A submitted file, perhaps unpacked from an archive, with the item that contained it."""

    path: Path
    name: PurePath  # as the student knows it; inside an archive, it starts with the archive
    kind: Kind
    item: Item

    @property
    def time(self) -> float:
        return self.path.lstat().st_mtime


def pieces_of(item: Item, stack: ExitStack) -> tuple[list[Piece], list[Doubt]]:
    """Return an item's files, and doubts about files that were left out.

    Closing `stack` removes the temporary folders of unpacked archives.
    """
    walk = Walk()
    name = PurePath(item.label)
    if not item.path.is_dir():
        name /= item.called or item.path.name
    pieces = list(opened(item, walk, name, stack))
    for piece in pieces:
        if code := UNREAD.get(piece.kind):
            walk.doubts.append(Doubt(code, shortened(piece.name)))
    return [piece for piece in pieces if piece.kind not in UNREAD], walk.doubts


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
            lambda path: kind_of(path.name) != Kind.CLUTTER,
            named_alone=lambda path: kind_of(path.name) not in UNPACKED,
        )
        for inner in walk.files(target, found.name):
            if inner.kind == Kind.ARCHIVE:
                place = shortened(f"{item.download}/{item.path.name}")
                detail = f"not opened; it is in {place}"
                walk.doubts.append(Doubt(FindingCode.ARCHIVE_WITHIN, shortened(inner.name), detail))
            else:
                yield Piece(*inner, item)
