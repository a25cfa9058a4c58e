"""Lock a folder of grades, so that two graders do not write into it.

The operating system releases the lock when the process ends. If a grader is killed, only a small
unlocked file remains.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import click

from autograder.errors import SettingsError
from autograder.writing import cannot_write

LOCK = ".lock"
ELSE = "wait until it has finished, or choose another --out"
# A worker of a grader that was just killed may still have to close its copy of the lock.
WAIT_S = 3.0
TRY_AGAIN_S = 0.05

_held: set[int] = set()


def let_go() -> None:
    """Release the locks in a worker process, because it may outlive the parent that holds them."""
    for descriptor in _held:
        os.close(descriptor)


os.register_at_fork(after_in_child=let_go)


@contextmanager
def whole_class(out: Path) -> Iterator[None]:
    """Lock the folder, so that no other grader writes into it."""
    with locked(out / LOCK, fcntl.LOCK_EX, f"another grader is writing into {out}"):
        yield


@contextmanager
def locked(path: Path, kind: int, message: str) -> Iterator[None]:
    """Lock a file, or raise SettingsError with the message if another grader has locked it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise cannot_write(path, error) from None
    _held.add(descriptor)
    try:
        try:
            if not in_time(descriptor, kind):
                raise SettingsError(f"{message}: {ELSE}")
        except OSError as error:  # for example Lustre mounted without `flock`
            warn_once(
                f"--out cannot be locked ({error.strerror}): do not start a second grader on it"
            )
        yield
    finally:
        _held.discard(descriptor)
        os.close(descriptor)


def in_time(descriptor: int, kind: int) -> bool:
    """Return whether the file could be locked within WAIT_S."""
    end = time.monotonic() + WAIT_S
    while True:
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if time.monotonic() > end:
                return False
        time.sleep(TRY_AGAIN_S)


@cache
def warn_once(text: str) -> None:
    click.echo(text, err=True)
