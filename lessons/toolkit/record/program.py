"""Which program runs: hashes of its file and of the modules of its own folder, and of the toolkit.

Only files are read again. What changed on disk since this process began may not be what runs, and
gets no hash: None.
"""

import os
import sys
import sysconfig
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from autograder.text_hash import folder_hash, text_hash
from lessons.toolkit.record import mllog

TOOLKIT = Path(mllog.TOOLKIT)
COURSE = TOOLKIT.parents[1]  # of its packages the toolkit has a hash of its own
OURS = tuple(f"{COURSE / package}{os.sep}" for package in ("autograder", "cluster", "lessons"))
STDLIB = (f"{sysconfig.get_path('stdlib')}{os.sep}",)
INSTALLED = ("site-packages", "dist-packages")
LINE_BYTES = 300  # of names and hashes on one line: with escapes and all the rest below 1,000
LONGEST_NAME = 50
MOST_FILES = 200
CLOCK_SLACK_S = 1.0  # a process's beginning is known to hundredths, a file server's clock less well
LOADED = time.time()


def main_file() -> Path | None:
    """The program's own file; None in a notebook and for `python -c`."""
    name = getattr(sys.modules.get("__main__"), "__file__", None)
    path = Path(os.path.abspath(name)) if isinstance(name, str) else None
    return path if path is not None and path.is_file() else None


def main_hash() -> str | None:
    main = main_file()
    return None if main is None else hash_of(main)


def program_files() -> dict[str, Path]:
    """Name in the program's folder -> path, of the program and what it imported from there."""
    main = main_file()
    if main is None:
        return {}
    files = {main.name: main}
    folders = {f"{main.parent}{os.sep}", f"{main.resolve().parent}{os.sep}"}  # it may be a link
    for module in list(sys.modules.values()):
        # Not getattr: a module that is loaded when it is first used must stay unused.
        path = getattr(module, "__dict__", {}).get("__file__")
        if not isinstance(path, str) or not path.endswith(".py"):
            continue
        folder = next((folder for folder in folders if path.startswith(folder)), None)
        if folder and not path.startswith(not_the_programs(folder)) and not is_installed(path):
            files.setdefault(path.removeprefix(folder), Path(path))
    return dict(list(files.items())[:MOST_FILES])


def not_the_programs(folder: str) -> tuple[str, ...]:
    """A program may lie at the top of the course, or of all that is installed."""
    return (OURS if f"{COURSE}{os.sep}".startswith(folder) else (f"{TOOLKIT}{os.sep}",)) + STDLIB


def is_installed(path: str) -> bool:
    return any(f"{os.sep}{name}{os.sep}" in path for name in INSTALLED)


def hash_of(path: Path) -> str | None:
    try:
        if path.stat().st_mtime > began() + CLOCK_SLACK_S:
            return None
        return text_hash(path.read_bytes())
    except OSError:
        return None


@cache
def began() -> float:
    """When this process was started, by the clock that files are dated by."""
    try:
        ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
        up = float(Path("/proc/uptime").read_text().split()[0])
        return time.time() - up + ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return LOADED


@cache
def toolkit_hash() -> str | None:
    try:
        return folder_hash(TOOLKIT)
    except OSError:
        return None


def first_values() -> Iterator[dict[str, Any]]:
    """What the record says of the program where it begins: a value for each line."""
    main = main_file()
    head = {"main": main and main.name[-LONGEST_NAME:], "toolkit": toolkit_hash()}
    groups = list(in_lines(program_files())) or [{}]
    yield {**head, "files": groups[0]}
    yield from ({"files": group} for group in groups[1:])


def later_values(told: set[str]) -> Iterator[dict[str, Any]]:
    """The same for what was imported since."""
    new = {name: path for name, path in program_files().items() if name not in told}
    yield from ({"files": group} for group in in_lines(new))


def in_lines(files: dict[str, Path]) -> Iterator[dict[str, str | None]]:
    """Names with their hashes, in groups that fit on a line whatever the names are."""
    group: dict[str, str | None] = {}
    size = 0
    for name, path in files.items():
        short = name[-LONGEST_NAME:]
        needs = len(mllog.encode(short)) + 24
        if group and size + needs > LINE_BYTES:
            yield group
            group, size = {}, 0
        group[short] = hash_of(path)
        size += needs
    if group:
        yield group
