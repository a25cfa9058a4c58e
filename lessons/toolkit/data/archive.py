"""Read archives from front to back in pieces, without extracting them by name."""

import gzip
import lzma
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from lessons.toolkit.data.catalogue import Entry, File

PIECE = 1 << 20
# xz -9 needs 65 MB to unpack; a header may ask for 4 GB.
XZ_MEMORY = 256 << 20


def members(entry: Entry, path: Path) -> Iterator[tuple[File, bytes]]:
    """Yield each catalogued file in the archive with its bytes.

    It reads only regular members whose names are in the catalogue, and none larger than the largest
    catalogued file. It writes nothing. A ValueError says why reading stops early.
    """
    by_name = {file.name: file for file in entry.files}
    largest = max(file.bytes for file in entry.files)
    limit = sum(file.bytes for file in entry.files) * 5 // 4 + 16 * PIECE
    with path.open("rb") as raw:
        stream: Any = _Bounded(_unpacked(raw), limit)
        try:
            with tarfile.open(None, "r|", stream, PIECE) as archive:
                for member in archive:
                    file = by_name.pop(member.name.removeprefix("./"), None)
                    if file is None or not member.isreg():
                        continue
                    if member.size > largest:
                        raise ValueError(f"holds a {file.name} of {member.size:,} bytes")
                    content = archive.extractfile(member)
                    assert content is not None  # a regular member has content
                    yield file, content.read()
        except (ValueError, MemoryError):
            raise
        except OSError as error:
            if error.errno is not None:  # the disk's fault, not the archive's
                raise
            raise ValueError(f"is not a whole archive ({error})") from error
        except Exception as error:  # any error that a hostile archive can cause
            raise ValueError(f"is not a whole archive ({error or type(error).__name__})") from error


def _unpacked(raw: IO[bytes]):
    """Return the unpacked stream.

    The file's first bytes show how it is compressed; its name may be wrong.
    """
    first = raw.read(6)
    raw.seek(0)
    if first.startswith(b"\x1f\x8b"):
        return gzip.GzipFile(fileobj=raw)
    if first == b"\xfd7zXZ\x00":
        return _Xz(raw)
    return raw


class _Xz:
    """A replacement for lzma.LZMAFile with a limit on memory, which that class cannot set."""

    def __init__(self, raw: IO[bytes]) -> None:
        self.raw = raw
        self.decoder = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=XZ_MEMORY)

    def read(self, size: int) -> bytes:
        while not self.decoder.eof:
            piece = self.raw.read(PIECE) if self.decoder.needs_input else b""
            if self.decoder.needs_input and not piece:
                raise EOFError("it ends too early")
            if data := self.decoder.decompress(piece, size):
                return data
        return b""


class _Bounded:
    """A stream that raises an error if it yields more bytes than the data set can have."""

    def __init__(self, stream, limit: int) -> None:
        self.stream = stream
        self.left = limit

    def read(self, size: int = -1) -> bytes:
        data = self.stream.read(size)
        self.left -= len(data)
        if self.left < 0:
            raise ValueError("unpacks to far more than the data set: it may be an attack")
        return data
