"""List the items of a download, their files, also in archives, and the attempt that counts.

An item is a folder, an archive or a file that was submitted. Archives are unpacked safely, without
writing outside a new folder: only regular files, each under its own checked relative path. No file
is longer than the archive says, because the standard library reads no further.
"""

import lzma
import shutil
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path, PurePath, PurePosixPath
from tempfile import TemporaryDirectory
from typing import IO, NamedTuple

from autograder.codes import FindingCode
from autograder.grouping import grouped
from autograder.notes import Note
from autograder.safe_text import shortened
from autograder.settings.roster import Claim
from autograder.submissions.class_folder import COURSES, listed, noted_time
from autograder.submissions.doubts import note_of
from autograder.submissions.kinds import COPIED, WORK, Kind, is_clutter, kind_of
from autograder.submissions.lesson_files import UNREAD
from autograder.submissions.moments import latest, seconds_of
from autograder.submissions.walk import Found, Walk, open_regular


@dataclass(frozen=True, slots=True)
class Item:
    """One folder, archive or file of a download."""

    path: Path
    claims: tuple[Claim, ...]  # one for each student who shares the submission
    called: str = ""  # the student's own file name, without the platform's prefix
    lesson: str = ""  # from the platform's name; a lesson found in the outputs takes precedence
    submitted: str = ""  # the platform's time with its offset or zone, as `moment_of` reads it
    late: bool = False  # marked late by the platform
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
            walk.doubts += unpack(file.path, shortened(file.name), target)
            files += walk.files(target, file.name)
        else:
            files.append(file)
    codes = UNREAD | {Kind.ARCHIVE: FindingCode.ARCHIVE_UNOPENED}
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


def keep_latest(pieces: Collection[Piece], items: Sequence[Item]) -> tuple[list[Piece], list[Note]]:
    """Leave out all attempts with outputs or answers except the last one.

    The platform's time decides which one is the last, then the order of the downloads in `items`.
    """
    attempts = grouped((piece.item.label, piece) for piece in pieces)
    labels = dict.fromkeys(item.label for item in items)
    working = [name for name in labels if any(p.kind in WORK for p in attempts.get(name, ()))]

    def place(label: str) -> tuple[float, int]:
        return seconds_of(submitted(attempts[label])[0]) or 0.0, working.index(label)

    dropped = sorted({*working} - {max(working, key=place, default="")})
    if not dropped:
        return [*pieces], []
    detail = shortened("left out: " + ", ".join(shortened(label, 80) for label in dropped), 300)
    left = [piece for piece in pieces if piece.item.label not in dropped]
    only_before = Kind.OUTPUT in {p.kind for p in pieces} - {p.kind for p in left}
    code = FindingCode.OUTPUTS_LEFT_OUT if only_before else FindingCode.LATEST_COUNTS
    return left, [note_of(code, "", detail)]


# --- archives -------------------------------------------------------------------------------------

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
                        odd("is damaged in the archive", FindingCode.ARCHIVE_UNOPENED, member.name)
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
