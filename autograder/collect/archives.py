"""Unpack submitted zip and tar archives safely, without writing outside a new folder.

Only regular files are unpacked, each under its own checked relative path. Sizes are counted while
unpacking, because the sizes stated in an archive may be false.
"""

import lzma
import os
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple

from autograder.codes import FindingCode
from autograder.safe_text import shortened
from autograder.submissions.doubts import MOST, Doubt
from autograder.submissions.kinds import is_clutter
from autograder.submissions.regular_files import open_regular

RATIO_FROM = 32 << 20  # smaller files may have any compression ratio
MAX_RATIO = 300
BLOCK = 1 << 20
DAMAGE = "is damaged in the archive"
# What Python's library raises on a member that it cannot unpack. Other members are still read.
DAMAGED = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError)

Odd = Callable[..., None]  # called with what was left out and why; see odd() in unpack()


class Member(NamedTuple):
    """A regular file in an archive. 0: unknown."""

    name: str
    packed: int  # compressed size
    changed: float
    content: IO[bytes] | None  # None: only the name is used


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on what is unpacked from one archive."""

    members: int = 10_000
    size: int = 4 << 30  # bytes of all files together


USUAL = Limits()


def unpack(
    archive: Path,
    shown_as: str,
    target: Path,
    most: Limits = USUAL,
    named_alone: Callable[[PurePosixPath], bool] = lambda path: False,
) -> list[Doubt]:
    """Unpack an archive's regular files below `target`, and return doubts about it.

    Files for which `named_alone` is true are created empty, because only their names are used.
    """
    doubts: list[Doubt] = []

    def odd(detail: str, code: FindingCode = FindingCode.ARCHIVE_LEFT_OUT, file: str = "") -> None:
        if len(doubts) < MOST:
            inner = f"{shown_as}/{shortened(file, 80)}" if file else shown_as
            doubts.append(Doubt(code, inner, detail))

    total = 0
    is_zip = archive.name.lower().endswith(".zip")
    members = _zip_members if is_zip else _tar_members
    try:
        for member in members(archive, odd, most):
            path = safe_path(member.name)
            if path is None:
                odd(f"a name that leaves the folder: {shortened(member.name, 80)}")
            elif not any(is_clutter(part) for part in path.parts):
                member = member._replace(content=None) if named_alone(path) else member
                total += _write(member, target / path, most.size - total, odd)
            if total > most.size:
                break
    except Exception as error:  # zipfile and tarfile raise many kinds on broken files
        found = getattr(error, "strerror", "")
        if not found:  # with strerror, the file system failed, not the archive
            kind = "zip" if is_zip else "tar"
            found = "cut off, or damaged" if total else f"cut off, or no {kind} at all"
        code = FindingCode.ARCHIVE_DAMAGED if total else FindingCode.ARCHIVE_UNOPENED
        odd(shortened(found, 120), code)
    return doubts


def _write(member: Member, path: Path, room: int, odd: Odd) -> int:
    """Write one file, and return the number of unpacked bytes.

    The number includes the bytes of a file that is left out afterwards. This limits the total time.
    Files after a bad one are still unpacked.
    """
    name = shortened(member.name, 80)
    if path.exists():
        odd(f"the same name twice: {name}")
        return 0
    written = 0
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            while member.content and (block := member.content.read(BLOCK)):
                written += len(block)
                ratio = written / member.packed if member.packed and written > RATIO_FROM else 0
                if written > room or ratio > MAX_RATIO:
                    raise OverflowError
                file.write(block)
        # The latest submission may count, and file times help to find it.
        os.utime(path, (max(member.changed, 0), max(member.changed, 0)))
    except OSError as error:
        odd(f"{name}: {error.strerror or shortened(error, 80)}")
        return 0
    except OverflowError:
        path.unlink()
        odd(f"{name} unpacks to far more than its own size")
    except DAMAGED:
        path.unlink()
        odd(DAMAGE, FindingCode.FILE_DAMAGED, member.name)
    return written


def safe_path(name: str) -> PurePosixPath | None:
    """Return a relative path, or None if it has `..`, a drive letter or an excessive length."""
    path = PurePosixPath(name.replace("\\", "/"))
    leaves = path.is_absolute() or ".." in path.parts or not path.parts or "\0" in name
    if leaves or ":" in path.parts[0] or len(path.parts) > 20:
        return None
    if any(len(part.encode("utf-8", "surrogateescape")) > 200 for part in path.parts):
        return None
    return path


def _zip_time(info: zipfile.ZipInfo) -> float:
    """Return a file's modification time by the clock of the packing computer; 0 if unknown."""
    try:
        return datetime(*info.date_time).timestamp()
    except (ValueError, OverflowError, OSError):
        return 0


def name_in(info: zipfile.ZipInfo) -> str:
    """Return an archive member's name, decoded correctly even if macOS packed it.

    macOS stores names as UTF-8 without the flag for it, so zipfile decodes them as MS-DOS names.
    """
    if info.flag_bits & 0x800:
        return info.filename
    try:
        return info.filename.encode("cp437").decode("utf-8")
    except UnicodeError:
        return info.filename


def _zip_members(archive: Path, odd: Odd, most: Limits) -> Iterator[Member]:
    with open_regular(archive) as file, zipfile.ZipFile(file) as opened:
        # Shallow files first: a folder beside the outputs may hold a data set, one file per sample.
        in_order = sorted(opened.infolist(), key=lambda info: info.filename.rstrip("/").count("/"))
        for count, info in enumerate(in_order):
            if count >= most.members:
                odd(f"more than {most.members} files; the rest was left out")
                return
            name = name_in(info)
            if info.is_dir():
                continue
            if stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG):
                odd(f"a link or device: {shortened(name, 80)}")
                continue
            if info.flag_bits & 1:
                odd(f"an encrypted file: {shortened(name, 80)}")
                continue
            try:
                content = opened.open(info)
            except DAMAGED:
                odd(DAMAGE, FindingCode.FILE_DAMAGED, name)
                continue
            with content:
                yield Member(name, max(info.compress_size, 1), _zip_time(info), content)


def _tar_members(archive: Path, odd: Odd, most: Limits) -> Iterator[Member]:
    with open_regular(archive) as file, tarfile.open(fileobj=file, mode="r|*") as opened:
        size = os.fstat(file.fileno()).st_size
        seen = 0
        for count, info in enumerate(opened):
            opened.members = []  # type: ignore[attr-defined]  # a stream of a million headers is not kept
            seen += info.size
            if count >= most.members:
                odd(f"more than {most.members} files; the rest was left out")
                return
            if seen > most.size or (seen > RATIO_FROM and seen > size * MAX_RATIO):
                odd("it unpacks to far more than its own size, so the rest was left out")
                return
            if info.isdir():
                continue
            if info.isreg():
                changed = float(info.mtime) if 0 < info.mtime < 1e11 else 0.0
                yield Member(info.name, 0, changed, opened.extractfile(info))
            else:
                odd(f"a link or device: {shortened(info.name, 80)}")
