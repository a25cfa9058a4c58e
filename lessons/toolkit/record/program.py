"""Hash the running program: its own file, the modules of its folder, and the toolkit.

Files are read again for this. A file that has changed on disk since this process began may differ
from the code that runs, so its hash is None.
"""

import os
import sys
import sysconfig
import time
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from autograder.text_hash import folder_hash, text_hash
from lessons.toolkit.record import run_record

TOOLKIT = Path(__file__).parents[1]
COURSE = TOOLKIT.parents[1]  # the toolkit has a separate hash
OURS = tuple(f"{COURSE / package}{os.sep}" for package in ("autograder", "cluster", "lessons"))
STDLIB = (f"{sysconfig.get_path('stdlib')}{os.sep}",)
INSTALLED = ("site-packages", "dist-packages")
LINE_BYTES = 300  # for names and hashes; with escapes and the rest, the line stays below 1,000
LONGEST_NAME = 50
MOST_FILES = 200
CLOCK_SLACK_S = 1.0  # process start times are exact to hundredths, a file server's clock less so
LOADED = time.time()


def main_file() -> Path | None:
    """Return the path of the program's main file, or None in a notebook and with `python -c`."""
    name = getattr(sys.modules.get("__main__"), "__file__", None)
    path = Path(os.path.abspath(name)) if isinstance(name, str) else None
    return path if path is not None and path.is_file() else None


def main_hash() -> str | None:
    main = main_file()
    return None if main is None else hash_of(main)


def program_files(beside: Mapping[str, Path] | None = None) -> dict[str, Path]:
    """Return the program's files by name: its own, and the modules imported from its folder.

    beside: files that other processes of the program imported.
    """
    main = main_file()
    if main is None:
        return {}
    files = {main.name: main, **(beside or {})}
    folders = {f"{main.parent}{os.sep}", f"{main.resolve().parent}{os.sep}"}  # it may be a link
    for module in list(sys.modules.values()):
        # Not getattr, which would load a lazy module.
        path = getattr(module, "__dict__", {}).get("__file__")
        if not isinstance(path, str) or not path.endswith(".py"):
            continue
        folder = next((folder for folder in folders if path.startswith(folder)), None)
        if folder and not path.startswith(not_the_programs(folder)) and not is_installed(path):
            files.setdefault(path.removeprefix(folder), Path(path))
    return dict(list(files.items())[:MOST_FILES])


def not_the_programs(folder: str) -> tuple[str, ...]:
    """Return the folders whose modules do not belong to the program.

    A program's folder may be the top folder of the course, or contain installed packages.
    """
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
    """Return the start time of this process, on the clock that sets files' modification times."""
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


def first_values(beside: Mapping[str, Path] | None = None) -> Iterator[dict[str, Any]]:
    """Yield the record's first facts about the program, one dictionary for each line.

    beside: see program_files.
    """
    main = main_file()
    head = {"main": main and main.name[-LONGEST_NAME:], "toolkit": toolkit_hash()}
    groups = list(in_lines(program_files(beside))) or [{}]
    yield {**head, "files": groups[0]}
    yield from ({"files": group} for group in groups[1:])


def later_values(told: set[str]) -> Iterator[dict[str, Any]]:
    """Yield facts about modules that were imported later."""
    new = {name: path for name, path in program_files().items() if name not in told}
    yield from ({"files": group} for group in in_lines(new))


def in_lines(files: dict[str, Path]) -> Iterator[dict[str, str | None]]:
    """Yield names with their hashes, in groups that each fit on a line."""
    group: dict[str, str | None] = {}
    size = 0
    for name, path in files.items():
        short = name[-LONGEST_NAME:]
        needs = len(run_record.encode(short)) + 24
        if group and size + needs > LINE_BYTES:
            yield group
            group, size = {}, 0
        group[short] = hash_of(path)
        size += needs
    if group:
        yield group
