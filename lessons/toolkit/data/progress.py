"""Show the progress of long work on stderr: a bar on a terminal, otherwise an occasional line."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SECONDS_BETWEEN_LINES = 10


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


@contextmanager
def progress(label: str, total: int) -> Iterator[Callable[[int], None]]:
    """Return a function that shows progress; call it with the number of bytes so far."""
    if sys.stderr.isatty():
        with _bar(label, total) as update:
            yield update
    else:
        yield _lines(label, total)


@contextmanager
def _bar(label: str, total: int) -> Iterator[Callable[[int], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn
    from rich.progress import TransferSpeedColumn as Speed

    columns = (BarColumn(), DownloadColumn(), Speed(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress("{task.description}", *columns, console=console, transient=True) as bars:
        task = bars.add_task(label, total=total)
        yield lambda done: bars.update(task, completed=done)


def _lines(label: str, total: int) -> Callable[[int], None]:
    last = time.monotonic()

    def update(done: int) -> None:
        nonlocal last
        if time.monotonic() - last >= SECONDS_BETWEEN_LINES:
            last = time.monotonic()
            say(f"{label}: {done / 1e6:.0f} of {total / 1e6:.0f} MB")

    return update
