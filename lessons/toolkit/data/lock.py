"""Let one process at a time fill a folder. The others wait until it succeeds or fails."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from lessons.toolkit.data.errors import DataError
from lessons.toolkit.data.progress import say

SECONDS_BETWEEN_LINES = 60
MOST_LINES = 60


@contextmanager
def one_at_a_time(folder: Path, name: str) -> Iterator[None]:
    """Hold the lock for data set `name` in `folder`.

    If the process that holds the lock fails, the waiting processes fail with the same message. On a
    node without internet, eight ranks therefore wait for one timeout, not for eight.
    """
    folder.mkdir(parents=True, exist_ok=True)
    failure = folder / f".{name}.failed"
    before = _text(failure)
    with _patiently(folder, name):
        after = _text(failure)
        if after and after != before:
            raise DataError(after.split("\n", 1)[1])
        try:
            yield
        except DataError as error:
            _note(failure, str(error))
            raise
        failure.unlink(missing_ok=True)


@contextmanager
def _patiently(folder: Path, name: str) -> Iterator[None]:
    lock = FileLock(folder / f".{name}.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        say(f"Another process is getting {name} into {folder}: waiting for it.")
        _wait(lock, name)
    try:
        yield
    finally:
        lock.release()


def _wait(lock: FileLock, name: str) -> None:
    for _ in range(MOST_LINES):
        try:
            lock.acquire(timeout=SECONDS_BETWEEN_LINES, poll_interval=0.1)
        except Timeout:
            say(f"Still waiting for another process to finish fetching {name}.")
        else:
            return
    raise DataError(
        f"Another process has held {lock.lock_file} for an hour. If none is running any more on "
        "any node, delete that file and try again."
    )


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def _note(failure: Path, reason: str) -> None:
    # The first line makes each failure different from the one before.
    new = failure.with_suffix(".new")
    new.write_text(f"{socket.gethostname()} {os.getpid()} {os.urandom(8).hex()}\n{reason}")
    new.replace(failure)
