"""Hash the running program: its own file, the modules of its folder, and the toolkit.

Files are read again for this. A file that has changed on disk since this process began may
differ from the code that runs, so its hash is None.
"""

import os
import re
import sys
import sysconfig
import time
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from autograder.text_hash import folder_hash, text_hash
from lessons.toolkit.record.launches import birth

TOOLKIT = Path(__file__).parents[1]  # it has a separate hash
OURS = ("autograder", "cluster", "lessons")
STDLIB = f"{sysconfig.get_path('stdlib')}{os.sep}"
INSTALLED = re.compile(r"[/\\](site|dist)-packages[/\\]")
FILES_PER_LINE, MOST_FILES, LONGEST_NAME = 4, 200, 50
CLOCK_SLACK_S = 1.0  # a file server's clock may differ
TICKS = birth(os.getpid()).split()[1:2]  # of this process's start since boot; none outside Linux
UP = time.clock_gettime(time.CLOCK_BOOTTIME) if TICKS else 0.0
BEGAN = time.time() - UP + sum(map(int, TICKS)) / os.sysconf("SC_CLK_TCK")


def main_file() -> Path | None:
    """Return the path of the program's main file, or None in a notebook and with `python -c`."""
    name = getattr(sys.modules.get("__main__"), "__file__", None)
    path = Path(os.path.abspath(name)) if isinstance(name, str) else None
    return path if path is not None and path.is_file() else None


def program_files(beside: Mapping[str, Path] = {}) -> dict[str, Path]:
    """Return the program's files by name: its own, its folder's modules, other processes'."""
    main = main_file()
    if main is None:
        return {}
    files = {main.name: main, **beside}
    folders = {f"{main.parent}{os.sep}", f"{main.resolve().parent}{os.sep}"}  # it may be a link
    for name, module in list(sys.modules.items()):
        # Not getattr, which would load a lazy module.
        path = getattr(module, "__dict__", {}).get("__file__")
        is_ours = name.partition(".")[0] in OURS
        if is_ours or not isinstance(path, str) or path.startswith(STDLIB):
            continue
        folder = next((folder for folder in folders if path.startswith(folder)), None)
        if folder and path.endswith(".py") and not INSTALLED.search(path):
            files.setdefault(path.removeprefix(folder), Path(path))
    return dict(list(files.items())[:MOST_FILES])


def hash_of(path: Path) -> str | None:
    try:
        changed = path.stat().st_mtime > BEGAN + CLOCK_SLACK_S
        return None if changed else text_hash(path.read_bytes())
    except OSError:
        return None


@cache
def toolkit_hash() -> str:
    return folder_hash(TOOLKIT)


def values(told: set[str], beside: Mapping[str, Path]) -> Iterator[dict[str, Any]]:
    """Yield facts about files not yet told, one dictionary for each line, and add their names."""
    main = main_file()
    value = {} if told else {"main": main and main.name[-LONGEST_NAME:], "toolkit": toolkit_hash()}
    files = {name[-LONGEST_NAME:]: path for name, path in program_files(beside).items()}
    new = [name for name in files if name not in told]
    told.update(["", *new])  # there may be no files
    for first in range(0, len(new) or bool(value), FILES_PER_LINE):
        names = new[first : first + FILES_PER_LINE]
        yield value | {"files": {name: hash_of(files[name]) for name in names}}
        value = {}
