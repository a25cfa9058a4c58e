"""Find a data set's files in COURSE_DATA and in the cache, and read only what is right."""

import gzip
import hashlib
import lzma
import os
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from lessons.toolkit.data.catalogue import Entry, File
from lessons.toolkit.data.errors import DataError

UNPACKING = (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile, tarfile.TarError, MemoryError)
ARCHIVES = (".tar", ".tar.gz", ".tar.xz")


def cache_folder() -> Path:
    """Return COURSE_DATA_CACHE or, if it is not set, dl-course/data in the user's cache folder."""
    if chosen := os.environ.get("COURSE_DATA_CACHE"):
        return Path(chosen).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "dl-course" / "data"


def folders() -> list[Path]:
    """Return the folders to search, in this order: COURSE_DATA, then the cache."""
    given = os.environ.get("COURSE_DATA")
    return [*([Path(given).expanduser()] if given else []), cache_folder()]


def find(entry: Entry, where: list[Path]) -> dict[File, Path]:
    """Return the first copy of each file, unpacked or packed; files without a copy are left out.

    An unpacked file in any folder takes precedence over a packed one, and a packed file over an
    archive, because it opens faster.
    """
    places = [folder / inner for folder in where for inner in entry.folders]
    stems = dict.fromkeys(pack.name.split(".tar")[0] for pack in entry.packs if ".tar" in pack.name)
    archives = [place / (stem + end) for place in places for stem in stems for end in ARCHIVES]
    found = {}
    for file in entry.files:
        single = [place / name for name in (file.name, f"{file.name}.gz") for place in places]
        for path in (*single, *archives):
            if os.path.isfile(path):  # False, not an error, if we have no permission
                found[file] = path
                break
    return found


def read(entry: Entry, found: dict[File, Path]) -> Iterator[tuple[File, bytes]]:
    """Yield the bytes of all files in `found`, each with the right checksum.

    Each archive is read in one pass. A DataError says which file is wrong.
    """
    for path in dict.fromkeys(found.values()):
        wanted = {file.name: file for file in found if found[file] == path}
        try:
            for file, data in _contents(path, wanted):
                if hashlib.sha256(data).hexdigest() != file.sha256:
                    size = f"{len(data):,} of {file.bytes:,} bytes"
                    raise _broken(entry, path, f"differs from {entry.title}'s {file.name} ({size})")
                del wanted[file.name]
                yield file, data
        except UNPACKING as error:
            raise _broken(entry, path, f"cannot be unpacked ({error})") from error
        except OSError as error:
            raise DataError(f"{path} cannot be read: {error.strerror}.") from error
        if wanted:
            raise _broken(entry, path, f"does not contain {', '.join(wanted)}")


def problem(entry: Entry, path: Path, found: dict[File, Path]) -> str:
    """Return what is wrong with the files that `path` contains, or an empty string."""
    try:
        if path.name.endswith(ARCHIVES):
            with path.open("rb") as archive:
                digest = hashlib.file_digest(archive, "sha256").hexdigest()
            if any(pack.sha256 == digest for pack in entry.packs):
                return ""  # which need not be unpacked
        for _ in read(entry, {file: path for file, each in found.items() if each == path}):
            pass
    except (DataError, OSError) as error:
        return str(error)
    return ""


def _contents(path: Path, wanted: dict[str, File]) -> Iterator[tuple[File, bytes]]:
    """Yield the wanted files. Nothing is written, and no file is read beyond its size."""
    if not path.name.endswith(ARCHIVES):
        [file] = wanted.values()
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
            yield file, stream.read(file.bytes + 1)
        return
    with tarfile.open(path) as archive:
        for member in archive:
            inside = wanted.get(member.name.removeprefix("./"))
            if inside and (content := archive.extractfile(member)):
                yield inside, content.read(inside.bytes + 1)
            if not wanted:
                return


def _broken(entry: Entry, path: Path, reason: str) -> DataError:
    again = f"`lessons data fetch {entry.name}`"
    if path.is_relative_to(cache_folder()):
        return DataError(f"{path} {reason}. Run {again}, which replaces it.")
    return DataError(
        f"{path} {reason}. Replace it with a good copy, or leave it out: unset COURSE_DATA and run "
        f"{again}."
    )
