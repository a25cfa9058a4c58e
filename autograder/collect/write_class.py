"""Write a submission's folder CLASS/<student>/<lesson>/ elsewhere, then swap it in."""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkdtemp

from autograder.codes import FindingCode
from autograder.submissions.doubts import Doubt
from autograder.submissions.lesson_files import contents_of
from autograder.submissions.regular_files import open_regular, why
from autograder.writing import cannot_write

SCRATCH = ".collecting-"


@dataclass(slots=True)
class Written:
    """The changes that were made by writing a folder."""

    doubts: list[Doubt] = field(default_factory=list)  # about the new files
    removed: list[str] = field(default_factory=list)  # files that were in the folder and are gone
    replaced: bool = False  # whether the folder had other files before


def write_folder(target: Path, files: Mapping[str, Path]) -> Written:
    """Write the files into the folder, unless it already holds the same files."""
    done = Written()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(mkdtemp(prefix=SCRATCH, dir=target.parent.parent))
        try:
            new, old = scratch / "new", scratch / "old"
            new.mkdir()
            for name, source in files.items():
                done.doubts += copied(source, new / name, name)
            before, after = digests(target), digests(new) or {}
            if after != before:
                done.removed = sorted((before or {}).keys() - after.keys())
                done.replaced = bool(before)
                if target.exists():
                    target.rename(old)
                new.rename(target)
        finally:
            shutil.rmtree(scratch)
    except OSError as error:
        raise cannot_write(target, error) from None
    return done


def copied(source: Path, target: Path, name: str) -> list[Doubt]:
    """Copy a file with its timestamps. Return a doubt if the file cannot be read."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        file = open_regular(source)
    except OSError as error:
        return [Doubt(FindingCode.FILE_UNREADABLE, name, why(error))]
    with file, target.open("wb") as copy:
        shutil.copyfileobj(file, copy)
        info = os.fstat(file.fileno())
    os.utime(target, ns=(info.st_atime_ns, info.st_mtime_ns))
    return []


def digests(folder: Path) -> dict[str, set[tuple[str, bytes]]] | None:
    """Return the names and digests of a folder's files, or None if there is no folder."""
    if not folder.is_dir():
        return None
    names = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): contents_of({path: path.name}) for path in names}


def remove_scratch(home: Path) -> None:
    """Remove what a killed run left behind."""
    for path in home.glob(f"{SCRATCH}*"):
        shutil.rmtree(path, ignore_errors=True)
