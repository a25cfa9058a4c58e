"""Download one file over HTTP, with resume and with limits on size, time and retries."""

import hashlib
import http.client
import os
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lessons.toolkit.data.catalogue import Pack

PIECE = 1 << 18


@dataclass(frozen=True)
class Patience:
    """Limits for a server: seconds of silence, retries, and the slowest acceptable rate.

    The slowest acceptable rate is `least` bytes in `window` seconds.
    """

    silence: float = 20
    tries: int = 4
    pause: float = 1
    window: float = 30
    least: int = 256 << 10


AT_LEISURE = Patience()  # `lessons data fetch`: a person started it and watches
IN_A_HURRY = Patience(silence=5, tries=2, pause=0.5)  # in the middle of a training program


class UnavailableError(Exception):
    """The address does not provide the file. The message says why."""


class UnreachableError(UnavailableError):
    """The address does not answer, so no other files are requested from it."""


def download(
    pack: Pack, url: str, part: Path, patience: Patience, progress: Callable[[int], None]
) -> None:
    """Download the pack from `url` into `part`, resuming an earlier download.

    On return, the file is complete and has the right checksum. After an UnavailableError, the file
    keeps the bytes that have arrived, unless they are wrong.
    """
    from_the_start = not part.exists()
    for attempt in range(patience.tries):
        if attempt:
            time.sleep(patience.pause * 2 ** (attempt - 1))
        try:
            _transfer(pack, url, part, patience, progress)
        except urllib.error.HTTPError as error:
            if error.code == 416:  # the local part is longer than the remote file
                part.unlink(missing_ok=True)
                continue
            reason: Exception = UnavailableError(f"answered {error.code} {error.reason}")
            if error.code < 500 and error.code != 429:
                raise reason from error
        except urllib.error.URLError as error:
            raise UnreachableError(f"cannot be reached ({_cause(error)})") from error
        except (TimeoutError, ConnectionError, http.client.HTTPException) as error:
            reason = UnavailableError(f"broke off ({_cause(error)})")
        else:
            if _checksum(part) == pack.sha256:
                return
            part.unlink()
            reason = UnavailableError("sent a file with another checksum")
            if from_the_start:
                raise reason
            from_the_start = True  # the beginning belongs to another file: download all of it again
    raise reason


def _transfer(
    pack: Pack, url: str, part: Path, patience: Patience, progress: Callable[[int], None]
) -> None:
    have = part.stat().st_size if part.exists() else 0
    if have == pack.bytes:
        return
    request = urllib.request.Request(url, headers={"User-Agent": "dl-course"})
    if have:
        request.add_header("Range", f"bytes={have}-")
    with urllib.request.urlopen(request, timeout=patience.silence) as answer:
        goes_on = answer.status == 206 and str(answer.headers["Content-Range"]).startswith(
            f"bytes {have}-"
        )
        if not goes_on:
            have = 0
        with part.open("ab" if goes_on else "wb") as file:
            clock = _Clock(patience)
            progress(have)
            while data := answer.read1(PIECE):
                have += len(data)
                if have > pack.bytes:
                    file.truncate(0)
                    raise UnavailableError(f"sends more than the {pack.bytes:,} bytes of the file")
                file.write(data)
                clock.count(len(data))
                progress(have)
            file.flush()
            os.fsync(file.fileno())
    if have < pack.bytes:
        raise ConnectionError(f"{have:,} of {pack.bytes:,} bytes")


class _Clock:
    """A timer that ends a download from a server that sends almost nothing.

    A limit on silence alone would not detect such a server.
    """

    def __init__(self, patience: Patience) -> None:
        self.patience = patience
        self.begin = time.monotonic()
        self.bytes = 0

    def count(self, number: int) -> None:
        self.bytes += number
        if time.monotonic() - self.begin > self.patience.window:
            if self.bytes < self.patience.least:
                raise TimeoutError(f"{self.bytes:,} bytes in {self.patience.window:.0f} s")
            self.begin, self.bytes = time.monotonic(), 0


def _cause(error: Exception) -> str:
    reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or error
    return str(reason) or type(error).__name__


def _checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
