"""Let ranks exchange findings through files in a shared folder, because MPI may be broken."""

import json
import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from cluster.doctor import position

PAUSE = 0.05


def shared_folder() -> Path:
    return Path.cwd() / f".doctor-{position.launch_name()}"


def send(folder: Path, kind: str, rank: int, content: Any) -> bool:
    """Write the file. Return False if another process with the same rank has already written it."""
    new = folder / f".{kind}-{rank}-{os.getpid()}-{position.host_name()}"
    new.write_text(json.dumps(content))
    try:
        os.link(new, folder / f"{kind}-{rank}.json")  # atomic, and never replaces another file
    except FileExistsError:
        return False
    finally:
        new.unlink()
    return True


def collect(folder: Path, kind: str, ranks: Iterable[int], seconds: float) -> dict[int, Any]:
    """Return the messages that these ranks sent within the time limit."""
    end = time.monotonic() + seconds
    received: dict[int, Any] = {}
    wanted = list(ranks)
    while True:
        there = set(os.listdir(folder))  # also makes a network file system refresh
        for rank in wanted:
            if rank not in received and f"{kind}-{rank}.json" in there:
                received[rank] = json.loads((folder / f"{kind}-{rank}.json").read_text())
        if len(received) == len(wanted) or time.monotonic() > end:
            return received
        time.sleep(PAUSE)


def until_gone(folder: Path, seconds: float) -> None:
    """Wait until rank 0 has deleted the folder."""
    end = time.monotonic() + seconds
    while folder.is_dir() and time.monotonic() < end:
        time.sleep(PAUSE)
