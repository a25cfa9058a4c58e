"""Read files and verify their bytes, or say in a sentence why that is impossible."""

import gzip
import hashlib
import zlib
from collections.abc import Iterator
from pathlib import Path

from lessons.toolkit.data import archive, cifar, idx, places
from lessons.toolkit.data.catalogue import Entry, File, catalogue
from lessons.toolkit.data.errors import DataError

PARSERS = {"idx": idx.parse, "cifar": cifar.parse}


def read(entry: Entry, found: dict[File, Path]) -> Iterator[tuple[File, bytes]]:
    """Yield the verified bytes of all files in `found`. Each archive is read in one pass."""
    archives: dict[Path, set[File]] = {}
    for file, path in found.items():
        if places.is_archive(path):
            archives.setdefault(path, set()).add(file)
        else:
            yield file, _read_file(entry, file, path)
    for path, wanted in archives.items():
        yield from _read_archive(entry, wanted, path)


def _read_file(entry: Entry, file: File, path: Path) -> bytes:
    # A little more than the largest file: enough to recognise a wrong file, and harmless.
    limit = max(each.bytes for other in catalogue().values() for each in other.files) + 1
    try:
        with path.open("rb") as raw:
            stream = gzip.GzipFile(fileobj=raw) if path.name.endswith(".gz") else raw
            data = stream.read(limit)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        reason = _not_data(path) or f"cannot be unpacked ({error}): cut short or damaged"
        raise broken(entry, path, reason) from error
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from error
    if complaint := _complaint(entry, file, data):
        raise broken(entry, path, complaint)
    return data


def _read_archive(entry: Entry, wanted: set[File], path: Path) -> Iterator[tuple[File, bytes]]:
    left = set(wanted)
    try:
        for file, data in archive.members(entry, path):
            if file not in left:
                continue
            if reason := _complaint(entry, file, data):
                raise broken(entry, path, f"holds a {file.name} that {reason}")
            left.remove(file)
            yield file, data
            if not left:
                return
    except ValueError as error:
        raise broken(entry, path, _not_data(path) or str(error)) from error
    except MemoryError as error:
        raise broken(entry, path, "needs more memory than is available") from error
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from error
    names = ", ".join(sorted(file.name for file in left))
    raise broken(entry, path, f"does not hold {names}")


def broken(entry: Entry, path: Path, reason: str) -> DataError:
    """Return a sentence that says what is wrong with a file, and what to do."""
    again = f"`lessons data fetch {entry.name}`"
    if path.is_relative_to(places.cache_folder()):
        return DataError(f"{path} {reason}. Run {again}, which replaces it.")
    return DataError(
        f"{path} {reason}. Replace it with a good copy, or leave it out: unset COURSE_DATA and run "
        f"{again}."
    )


def _complaint(entry: Entry, file: File, data: bytes) -> str | None:
    """Return what is wrong with these bytes, or None if they are correct."""
    digest = hashlib.sha256(data).hexdigest()
    if digest == file.sha256:
        return None
    for other in catalogue().values():
        for twin in other.files:
            if twin.sha256 == digest:
                return f"is really {other.title}'s {twin.name}: files were swapped"
    if not data:
        return "is empty"
    if data.lstrip()[:1] == b"<":
        return "is a web page, not data"
    if len(data) < file.bytes:
        return f"ends after {len(data):,} of {file.bytes:,} bytes"
    if len(data) > file.bytes:
        return f"is longer than the {file.bytes:,} bytes of {entry.title}'s {file.name}"
    try:
        PARSERS[entry.format](data)
    except ValueError as error:
        return str(error)
    return (
        f"has the right format, but its contents differ from {entry.title}'s {file.name}: it was "
        f"changed, or belongs to another data set of the same shape (SHA-256 {digest[:12]}… "
        f"instead of {file.sha256[:12]}…)"
    )


def _not_data(path: Path) -> str | None:
    with path.open("rb") as raw:
        first = raw.read(64)
    if not first:
        return "is empty"
    return "is a web page, not data" if first.lstrip()[:1] == b"<" else None
