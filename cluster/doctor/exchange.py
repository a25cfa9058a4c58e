"""How ranks tell each other what they found: files in a shared folder, for MPI may be what is
broken."""

import json
import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from cluster.doctor import position

PAUSE = 0.05


def folder() -> Path:
    return Path.cwd() / f".doctor-{position.launch_name()}"


def send(where: Path, kind: str, rank: int, content: Any) -> bool:
    """False if another process has sent this already: two call themselves by one rank."""
    new = where / f".{kind}-{rank}-{os.getpid()}-{position.host_name()}"
    new.write_text(json.dumps(content))
    try:
        os.link(new, where / f"{kind}-{rank}.json")  # whole, or not at all; never over another
    except FileExistsError:
        return False
    finally:
        new.unlink()
    return True


def collect(where: Path, kind: str, ranks: Iterable[int], seconds: float) -> dict[int, Any]:
    """What these ranks have sent, of those that did so in time."""
    end = time.monotonic() + seconds
    found: dict[int, Any] = {}
    wanted = list(ranks)
    while True:
        there = set(os.listdir(where))  # also makes a network file system look again
        for rank in wanted:
            if rank not in found and f"{kind}-{rank}.json" in there:
                found[rank] = json.loads((where / f"{kind}-{rank}.json").read_text())
        if len(found) == len(wanted) or time.monotonic() > end:
            return found
        time.sleep(PAUSE)


def until_gone(where: Path, seconds: float) -> None:
    """Wait until rank 0 has taken the folder away."""
    end = time.monotonic() + seconds
    while where.is_dir() and time.monotonic() < end:
        time.sleep(PAUSE)
