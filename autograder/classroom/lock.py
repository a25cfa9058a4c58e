"""Lock a folder of grades, so that two graders do not write into it."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from filelock import FileLock, Timeout

from autograder.errors import SettingsError
from autograder.writing import cannot_write

LOCK = ".lock"
WAIT_S = 3.0
NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP)  # of some mounts of NFS and Lustre


@contextmanager
def locked(out: Path) -> Iterator[None]:
    """Lock the folder, so that no other grader writes into it."""
    lock = FileLock(out / LOCK)
    try:
        out.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=WAIT_S)
    except Timeout:
        raise SettingsError(
            f"another grader is writing into {out}: wait until it has finished, or choose another "
            "--out"
        ) from None
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise cannot_write(out / LOCK, error) from None
        click.echo(f"{out} cannot be locked ({error.strerror}): start no second grader", err=True)
    try:
        yield
    finally:
        lock.release()
