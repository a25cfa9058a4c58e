"""Which files really appear in a folder: seen on the disk, by a rank that did not write them."""

import contextlib
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from lessons.toolkit.record.parameters import array

PATIENCE = 5.0  # seconds: on a shared file system another node's file may come into sight late

Seen = Mapping[str, tuple[int, ...]]


def files_in(folder: str | os.PathLike[str]) -> Seen:
    """Each file below a folder with what changes when it is written anew; hidden ones left out."""
    found = {}
    for path in Path(folder).rglob("[!.]*"):
        with contextlib.suppress(OSError):  # gone again meanwhile
            about = path.stat()
            if path.is_file():
                found[str(path)] = (about.st_ino, about.st_mtime_ns, about.st_size)
    return found


@contextlib.contextmanager
def new_files(
    folder: str | os.PathLike[str], gather: Callable[[Any], Any] | None, looks: bool
) -> Iterator[list[int]]:
    """Around what writes, on all ranks: one of them looks before and after; the number it found,
    on all ranks, is in the list when this is over.

    gather: the collective that brings a row of every rank together; None where there is one rank.
    """
    before = files_in(folder) if looks else {}
    together(0, gather)  # nobody writes before the rank that looks has looked
    found: list[int] = []
    yield found
    together(0, gather)  # all have written
    found.append(together(len(newer(folder, before)) if looks else 0, gather))


def newer(folder: str | os.PathLike[str], before: Seen) -> list[str]:
    """Files that were not there before or are others now."""
    until = time.monotonic() + PATIENCE
    while True:
        with contextlib.suppress(OSError), tempfile.TemporaryFile(dir=folder):
            pass  # a change of its own makes a node read a shared folder afresh
        found = [name for name, about in files_in(folder).items() if before.get(name) != about]
        if found or time.monotonic() > until:
            return found
        time.sleep(0.25)


def together(number: int, gather: Callable[[Any], Any] | None) -> int:
    """The sum over ranks; who comes first waits for the others."""
    import numpy as np

    row = np.array([[number]], dtype=np.int64)
    rows = row if gather is None else gather(row)
    return int(sum(array(each).sum() for each in rows))
