"""Lock a folder of grades: for one grader, or for several that grade parts of the same class.

The operating system releases these locks when the process ends. If a grader is killed, only a small
unlocked file remains. Grading a whole class locks the folder exclusively. Graders of parts share
the lock. The first one records its options, and the others must use the same ones.
"""

import fcntl
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import click

from autograder.classroom.shards import Shard
from autograder.errors import SettingsError
from autograder.writing import cannot_write

LOCK = ".lock"
WAIT_S = 3.0  # parts that start at the same time write down their options one after another
TRY_AGAIN_S = 0.05
ELSE = "wait for its end, or choose another --out"

_held: set[int] = set()


def let_go() -> None:
    """Release the locks in a worker process, because it may outlive the parent that holds them."""
    for descriptor in _held:
        os.close(descriptor)


os.register_at_fork(after_in_child=let_go)


@contextmanager
def whole_class(out: Path) -> Iterator[None]:
    """Lock the folder, so that no other grader writes into it."""
    with opened(out / LOCK) as descriptor:
        if not in_time(lambda: locked(descriptor, fcntl.LOCK_EX)):
            raise SettingsError(f"another grader is writing into {out}: {ELSE}")
        os.ftruncate(descriptor, 0)
        yield


@contextmanager
def one_part(out: Path, shard: Shard, graded_by: Mapping[str, str]) -> Iterator[None]:
    """Lock one part.

    Graders of other parts can write at the same time if they use the same options.
    """
    mine = json.dumps([shard.of, sorted(graded_by.items())]).encode()
    with opened(out / LOCK) as descriptor, opened(out / f".shard-{shard.number}.lock") as own:
        if not in_time(lambda: joined(descriptor, mine)):
            raise SettingsError(
                f"another grader is writing into {out}, a whole class or parts by other options: "
                + ELSE
            )
        if not in_time(lambda: locked(own, fcntl.LOCK_EX)):
            raise SettingsError(f"another grader is writing shard {shard} into {out}: {ELSE}")
        yield


def joined(descriptor: int, mine: bytes) -> bool:
    """Share the folder with other graders if they use the same options.

    The first grader writes its options.
    """
    if locked(descriptor, fcntl.LOCK_EX):
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, mine, 0)
    return locked(descriptor, fcntl.LOCK_SH) and os.pread(descriptor, len(mine) + 1, 0) == mine


@contextmanager
def opened(path: Path) -> Iterator[int]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise cannot_write(path, error) from None
    _held.add(descriptor)
    try:
        yield descriptor
    finally:
        _held.discard(descriptor)
        os.close(descriptor)


def locked(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:  # for example Lustre mounted without `flock`
        warn_once(f"--out cannot be locked ({error.strerror}): do not start a second grader on it")
    return True


@cache
def warn_once(text: str) -> None:
    click.echo(text, err=True)


def in_time(done: Callable[[], bool]) -> bool:
    end = time.monotonic() + WAIT_S
    while not done():
        if time.monotonic() > end:
            return False
        time.sleep(TRY_AGAIN_S)
    return True
