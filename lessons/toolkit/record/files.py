"""Find the files that were actually created in a folder.

A rank that did not write the files looks for them on the disk.
"""

import contextlib
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from lessons.toolkit.record.parameters import array

PATIENCE = 5.0  # seconds: on a shared file system another node's file may become visible late

Seen = Mapping[str, tuple[int, ...]]


def files_in(folder: str | os.PathLike[str]) -> Seen:
    """Return each file below a folder, with values that change when the file is rewritten.

    Hidden files are left out.
    """
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
    """Count the files that are created in a folder during a `with` block, which all ranks enter.

    One rank lists the folder before and after the block. After the block, the list contains the
    number of new files, on every rank. `gather`: the collective that collects one row from every
    rank, or None if there is only one rank.
    """
    before = files_in(folder) if looks else {}
    together(0, gather)  # no rank writes before this rank has looked
    found: list[int] = []
    yield found
    together(0, gather)  # now all ranks have written
    found.append(together(len(newer(folder, before)) if looks else 0, gather))


def newer(folder: str | os.PathLike[str], before: Seen) -> list[str]:
    """Return the files that are new or changed."""
    until = time.monotonic() + PATIENCE
    while True:
        with contextlib.suppress(OSError), tempfile.TemporaryFile(dir=folder):
            pass  # a node reads a shared folder again after it has changed the folder itself
        found = [name for name, about in files_in(folder).items() if before.get(name) != about]
        if found or time.monotonic() > until:
            return found
        time.sleep(0.25)


def together(number: int, gather: Callable[[Any], Any] | None) -> int:
    """Return the sum of the numbers of all ranks. All ranks wait for each other."""
    import numpy as np

    row = np.array([[number]], dtype=np.int64)
    rows = row if gather is None else gather(row)
    return int(sum(array(each).sum() for each in rows))
