"""Choose the file names of a submission's folder CLASS/<student>/<lesson>/, and write it."""

import shutil
from collections.abc import Collection, Mapping
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory

from autograder.codes import FindingCode
from autograder.collect.download import Piece
from autograder.data_files import cannot_write
from autograder.notes import Note
from autograder.submissions.doubts import note_of
from autograder.submissions.lesson_files import LessonFiles, digest_of, join
from autograder.submissions.walk import Found, open_regular, why


def named(pieces: Collection[Piece]) -> dict[str, Path]:
    """Return the paths of files by their names in the lesson's folder. Copies count once."""
    files = LessonFiles(None)
    for piece in pieces:
        files.add(Found(piece.path, piece.name, piece.kind))
    join(files)
    result: dict[str, Path] = {}
    read = files.outputs | files.answers | files.reports | files.programs
    for path, text in read.items():
        name = PurePath(text)
        while str(name) in result:
            name = name.with_stem(f"{name.stem} again")
        result[str(name)] = path
    return result


Digests = dict[str, bytes]  # of a folder's files, by name


def write_folder(target: Path, files: Mapping[str, Path]) -> tuple[Digests, Digests, list[Note]]:
    """If the folder holds other files, write the new ones elsewhere, then swap them in.

    Return the folder's digests before and after, and doubts about the new files.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".collecting-", dir=target.parent.parent) as scratch:
            new, old = Path(scratch, "new"), Path(scratch, "old")
            new.mkdir()
            copies = (copied(source, new / name, name) for name, source in files.items())
            doubts = [doubt for doubt in copies if doubt]
            before, after = digests(target), digests(new)
            if after != before or not target.exists():
                if target.exists():
                    target.rename(old)
                new.rename(target)
    except OSError as error:
        raise cannot_write(target, error) from None
    return before, after, doubts


def copied(source: Path, target: Path, name: str) -> Note | None:
    """Copy a file. Return a doubt if it cannot be read."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        file = open_regular(source)
    except OSError as error:
        return note_of(FindingCode.FILE_UNREADABLE, name, why(error))
    with file, target.open("wb") as copy:
        shutil.copyfileobj(file, copy)
    return None


def digests(folder: Path) -> Digests:
    names = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): digest_of(path) for path in names}
