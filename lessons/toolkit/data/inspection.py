"""What there is of a data set on this machine, and whether it is right."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from lessons.toolkit.data import contents, places
from lessons.toolkit.data.catalogue import Entry, File
from lessons.toolkit.data.errors import DataError
from lessons.toolkit.data.places import DataFolder

VERIFIED, UNCHECKED, MISSING, BROKEN = "verified", "not checked", "missing", "broken"


@dataclass(frozen=True)
class State:
    """One file: where it was found, and how it is; `problem` is the sentence about a broken one."""

    file: File
    path: Path | None
    state: str
    problem: str | None = None


def inspect(entry: Entry, where: list[DataFolder], open_archives: bool) -> list[State]:
    """The state of each file in catalogue order.

    Looking into an archive takes seconds; without it only an archive that is byte for byte the
    catalogued one counts as verified.
    """
    found = places.find(entry, where)
    states = {file: State(file, None, MISSING) for file in entry.files if file not in found}
    for path in dict.fromkeys(found.values()):
        files = {file: path for file in found if found[file] == path}
        if places.is_archive(path) and not open_archives:
            state = VERIFIED if _is_catalogued(entry, path) else UNCHECKED
            states |= {file: State(file, path, state) for file in files}
        else:
            states |= _verify(entry, files)
    return [states[file] for file in entry.files]


def _verify(entry: Entry, files: dict[File, Path]) -> dict[File, State]:
    states = {}
    problem = None
    try:
        for file, _ in contents.read(entry, files):
            states[file] = State(file, files[file], VERIFIED)
    except DataError as error:
        problem = str(error)
    rest = {f: State(f, path, BROKEN, problem) for f, path in files.items() if f not in states}
    return states | rest


def _is_catalogued(entry: Entry, path: Path) -> bool:
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return False
    return any(pack.sha256 == digest for pack in entry.packs)
