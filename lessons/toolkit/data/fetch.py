"""Complete a data set in a folder, from an archive on this machine or from a mirror."""

import errno
import hashlib
import http.client
import itertools
import os
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from lessons.toolkit.data import files
from lessons.toolkit.data.catalogue import Entry, File
from lessons.toolkit.data.errors import DataError, say

SILENCE = 10  # seconds
TRIES = 2
PIECE = 1 << 20
SECONDS_BETWEEN_LINES = 10
DISK = {errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EROFS, errno.EIO, errno.ENOTDIR}


def fetch(entry: Entry, folder: Path, where: list[Path], mend: bool = False) -> None:
    """Ensure that every file is in one of the folders in `where`; put missing ones in `folder`.

    Only one process at a time does this for a folder. Raises DataError if a file cannot be
    obtained. With `mend`, broken files in `folder` count as missing and are deleted.
    """
    with _one_at_a_time(folder, entry.name):
        if mend:
            _delete_broken(entry, folder, where)
        missing = set(entry.files) - files.find(entry, where).keys()
        seen = files.find(entry, files.folders())
        good = {f: p for f, p in seen.items() if f in missing and not files.problem(entry, p, seen)}
        _keep(entry, good, folder / entry.folders[0])
        if missing := missing - good.keys():
            _download(entry, missing, folder / entry.folders[0])
        found = files.find(entry, where)
        packed = {file: path for file, path in found.items() if path.name.endswith(files.ARCHIVES)}
        if packed:
            say(f"Unpacking {next(iter(packed.values()))} into {folder}, once.")
            _keep(entry, packed, folder / entry.folders[0])


@contextmanager
def _one_at_a_time(folder: Path, name: str) -> Iterator[None]:
    """Hold the lock for data set `name` in `folder`.

    If its holder fails, the waiting processes fail with the same message: without internet, eight
    ranks wait for one timeout, not for eight.
    """
    lock = FileLock(folder / f".{name}.lock")
    failure = folder / f".{name}.failed"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        before = failure.read_text() if failure.exists() else ""
        try:
            lock.acquire(timeout=0)
        except Timeout:
            say(f"Another process is getting {name} into {folder}: waiting for it.")
            lock.acquire(poll_interval=0.1)
        after = failure.read_text() if failure.exists() else ""
        if after not in ("", before):
            raise DataError(after.partition("\n")[2])
        try:
            yield
        except DataError as error:
            # The first line makes each failure different from the one before.
            failure.write_text(f"{socket.gethostname()} {os.getpid()} {time.time_ns()}\n{error}")
            raise
        failure.unlink(missing_ok=True)
    except OSError as error:
        raise DataError(
            f"Data cannot be written to {error.filename or folder}: {error.strerror}. Make room"
            " there, or let COURSE_DATA_CACHE name another folder."
        ) from error
    finally:
        lock.release()


def _download(entry: Entry, missing: set[File], home: Path) -> None:
    """Download the packs that contain the missing files; a second pack only if the first fails."""
    home.mkdir(parents=True, exist_ok=True)
    given = os.environ.get("COURSE_MIRRORS", " ".join(entry.mirrors))
    addresses = [address for address in given.split() if address != "none"]
    reasons = [] if addresses else ["COURSE_MIRRORS names no mirror"]
    for pack, address in itertools.product(entry.packs, addresses):
        inside = set(entry.inside(pack))
        if not missing & inside:
            continue
        if "{file}" not in address:  # a folder laid out like COURSE_DATA
            address = f"{address.rstrip('/')}/{entry.folders[0]}/{{file}}"
        url, path = address.format(file=pack.name), home / pack.name
        say(f"Getting {url} ({pack.bytes / 1e6:.1f} MB)")
        if reason := _get(pack, url, path):
            say(f"  {reason}")
            reasons.append(f"{url} {reason}")
            continue
        if path.name.endswith(files.ARCHIVES):
            _keep(entry, dict.fromkeys(entry.files, path), home)
            path.unlink()
        missing = missing - inside
    if missing:
        raise DataError(
            f"{entry.title} cannot be downloaded: {'; '.join(reasons)}. Run `lessons data fetch "
            f"{entry.name}` where there is internet (on a cluster: a login node), let "
            "COURSE_MIRRORS name another mirror, or let COURSE_DATA name a folder with a copy (for "
            "notebooks, before JupyterLab starts)."
        )


def _get(pack: File, url: str, path: Path) -> str:
    """Download a pack. Return why that is impossible, or an empty string."""
    part = path.with_name(f"{path.name}.part")
    reason = ""
    for _ in range(TRIES):
        try:
            if _transfer(pack, url, part) == pack.sha256:
                os.replace(part, path)
                return ""
            reason = f"sent other bytes, or not {pack.bytes:,} of them"
        except urllib.error.HTTPError as error:
            reason = f"answered {error.code} {error.reason}"
        except (OSError, http.client.HTTPException) as error:
            if getattr(error, "errno", None) in DISK:
                raise
            reason = f"cannot be reached ({getattr(error, 'reason', None) or error})"
    part.unlink(missing_ok=True)
    return reason


def _transfer(pack: File, url: str, part: Path) -> str:
    """Write at most one byte too many into `part`. Return the checksum of what arrived."""
    request = urllib.request.Request(url, headers={"User-Agent": "dl-course"})
    digest, have, last = hashlib.sha256(), 0, time.monotonic()
    with urllib.request.urlopen(request, timeout=SILENCE) as answer, part.open("wb") as file:
        while data := answer.read1(min(PIECE, pack.bytes + 1 - have)):
            digest.update(data)
            file.write(data)
            have += len(data)
            if time.monotonic() - last > SECONDS_BETWEEN_LINES:
                last = time.monotonic()
                say(f"{pack.name}: {have / 1e6:.0f} of {pack.bytes / 1e6:.0f} MB")
    return digest.hexdigest()


def _keep(entry: Entry, packed: dict[File, Path], home: Path) -> None:
    """Write the files of an archive under their catalogued names, each complete or not at all."""
    for file, data in files.read(entry, packed):
        path = home / file.name
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f"{path.name}.part")
        part.write_bytes(data)
        os.replace(part, path)


def _delete_broken(entry: Entry, folder: Path, where: list[Path]) -> None:
    found = files.find(entry, where)
    for path in {each for each in found.values() if each.is_relative_to(folder)}:
        if problem := files.problem(entry, path, found):
            say(f"{problem} Deleted.")
            path.unlink(missing_ok=True)
