"""CLASS/<student>/<lesson>/: a submission's folder is written anew and swapped in."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from tempfile import mkdtemp

from autograder.codes import FindingCode
from autograder.submissions.doubts import Doubt
from autograder.submissions.lesson_files import contents_of
from autograder.submissions.regular_files import open_regular, why
from autograder.writing import cannot_write

SCRATCH = ".collecting-"


def write_folder(target: Path, files: Mapping[str, Path]) -> list[Doubt]:
    """Write the files by their names below the folder. One with the same files is left alone."""
    doubts: list[Doubt] = []
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(mkdtemp(prefix=SCRATCH, dir=target.parent.parent))
        try:
            new, old = scratch / "new", scratch / "old"
            new.mkdir()
            for name, source in files.items():
                doubts += copied(source, new / name, name)
            if digests(new) != digests(target):
                if target.exists():
                    target.rename(old)
                new.rename(target)
        finally:
            shutil.rmtree(scratch)
    except OSError as error:
        raise cannot_write(target, error) from None
    return doubts


def copied(source: Path, target: Path, name: str) -> list[Doubt]:
    """Copy a file with its time; one that cannot be read is a doubt."""
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
    """Return what is in a folder, by names; None where there is no folder."""
    if not folder.is_dir():
        return None
    names = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): contents_of({path: path.name}) for path in names}


def remove_scratch(home: Path) -> None:
    """Remove what a run left that was killed."""
    for path in home.glob(f"{SCRATCH}*"):
        shutil.rmtree(path, ignore_errors=True)
