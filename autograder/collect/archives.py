"""Unpack submitted zip and tar archives safely, without writing outside a new folder.

Only regular files are unpacked, each under its own checked relative path. No file is longer than
the archive says, because the standard library reads no further.
"""

import lzma
import shutil
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple

from autograder.codes import FindingCode
from autograder.notes import Note
from autograder.safe_text import shortened
from autograder.submissions.doubts import note_of
from autograder.submissions.kinds import COPIED, Kind, is_clutter, kind_of
from autograder.submissions.walk import open_regular

METADATA = "submission_metadata.yml"  # Gradescope's table of an export's submissions
READ = COPIED | {Kind.TIMESTAMP, Kind.ARCHIVE}
# What Python's library raises on a member that it cannot unpack. Other members are still read.
DAMAGED = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError)


class Member(NamedTuple):
    """A file in an archive."""

    name: str
    size: int  # unpacked
    refused: str  # why it is not unpacked; empty: it is
    opened: Callable[[], IO[bytes] | None]


def unpack(
    archive: Path, name: str, target: Path, most: int = 10_000, size: int = 4 << 30
) -> list[Note]:
    """Unpack an archive's regular files below `target`, and return doubts about it.

    At most this many files, and this many bytes of all files together, are unpacked. A file that
    the grader does not read is created empty, because only its name is used.
    """
    doubts: list[Note] = []

    def odd(detail: str, code: FindingCode = FindingCode.LEFT_OUT, file: str = "") -> None:
        inner = f"{name}/{shortened(file, 80)}" if file else name
        doubts.append(note_of(code, inner, detail))

    is_zip = archive.name.lower().endswith(".zip")
    room, count = size, 0
    try:
        with open_regular(archive) as file:
            for count, member in enumerate(zip_members(file) if is_zip else tar_members(file), 1):
                inside, path = shortened(member.name, 80), safe_path(member.name)
                last = path.name if path and not member.refused else ""
                is_read = bool(last) and (kind_of(last) in READ or last == METADATA)
                room -= member.size if is_read or not is_zip else 0  # a tar is read to its end
                if count > most or room < 0:
                    limit = f"{most} files" if room >= 0 else f"{size:,} bytes"
                    odd(f"more than {limit}; {inside} and the rest was left out")
                    break
                if path is None:
                    odd(f"a name that leaves the folder: {inside}")
                elif any(map(is_clutter, path.parts)):
                    continue
                elif member.refused:
                    odd(f"{member.refused}: {inside}")
                else:
                    try:
                        write(member, target / path, is_read)
                    except DAMAGED:
                        (target / path).unlink(missing_ok=True)
                        odd("is damaged in the archive", FindingCode.FILE_DAMAGED, member.name)
                    except OSError as error:
                        odd(f"{inside}: {error.strerror or shortened(error, 80)}")
    except Exception as error:  # zipfile and tarfile raise many kinds on broken files
        kind = "zip" if is_zip else "tar"
        detail = f"cut off, or {'damaged' if count else f'no {kind} at all'}"
        detail = shortened(getattr(error, "strerror", "") or detail, 120)
        odd(detail, FindingCode.ARCHIVE_UNOPENED)
    return doubts


def write(member: Member, path: Path, with_content: bool) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    content = member.opened() if with_content else None
    with path.open("xb") as file:
        if content:
            shutil.copyfileobj(content, file)


def safe_path(name: str) -> PurePosixPath | None:
    """Return a relative path below a folder, or None if there is none."""
    path = PurePosixPath(name.replace("\\", "/"))
    leaves = path.is_absolute() or ".." in path.parts or not path.parts or "\0" in name
    return None if leaves or ":" in path.parts[0] or len(path.parts) > 20 else path


def zip_members(file: IO[bytes]) -> Iterator[Member]:
    with zipfile.ZipFile(file) as archive:
        # Shallow files first: a folder beside the outputs may hold a data set, one file per sample.
        for info in sorted(archive.infolist(), key=lambda info: info.filename.count("/")):
            kind = stat.S_IFMT(info.external_attr >> 16)
            refused = "" if kind in (0, stat.S_IFREG) else "a link or device"
            refused = "an encrypted file" if info.flag_bits & 1 else refused
            if not info.is_dir():
                opened = partial(archive.open, info)
                yield Member(name_in(info), info.file_size, refused, opened)


def tar_members(file: IO[bytes]) -> Iterator[Member]:
    with tarfile.open(fileobj=file, mode="r|*") as archive:
        for info in archive:
            archive.members = []  # type: ignore[attr-defined]  # a million headers are not kept
            refused = "" if info.isreg() else "a link or device"
            if not info.isdir():
                opened = partial(archive.extractfile, info)
                yield Member(info.name, info.size, refused, opened)


def name_in(info: zipfile.ZipInfo) -> str:
    """Return a member's name. macOS writes UTF-8 without the flag for it."""
    try:
        return info.filename if info.flag_bits & 0x800 else info.filename.encode("cp437").decode()
    except UnicodeError:
        return info.filename
