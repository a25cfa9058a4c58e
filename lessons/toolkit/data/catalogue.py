"""The catalogue: the data sets, their files, and their checksums."""

import hashlib
import os
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lessons.toolkit.data.errors import DataError


@dataclass(frozen=True)
class File:
    """An unpacked file, or a pack: what a mirror offers, a file as .gz or all files as .tar.*."""

    name: str
    bytes: int
    sha256: str
    holds: str = ""  # an unpacked file's contents: x_train, y_train, …, train or test


@dataclass(frozen=True)
class Entry:
    name: str
    title: str
    format: str
    image: list[int]
    train_samples: int
    test_samples: int
    folders: list[str]
    mirrors: list[str]
    files: list[File]
    packs: list[File]

    @property
    def sha256(self) -> str:
        """Return one checksum for the whole set, however it is packed."""
        return hashlib.sha256("".join(file.sha256 for file in self.files).encode()).hexdigest()

    def inside(self, pack: File) -> list[File]:
        """Return the files in a pack."""
        return [file for file in self.files if pack.name == f"{file.name}.gz"] or self.files


def catalogue() -> dict[str, Entry]:
    """Return the course's data sets, or those in the file that COURSE_CATALOGUE names."""
    return _read(os.environ.get("COURSE_CATALOGUE") or str(Path(__file__).with_suffix(".toml")))


def entry(name: str) -> Entry:
    """Return one data set by its name."""
    known = catalogue()
    if name not in known:
        raise DataError(f"There is no data set {name!r}; there are {', '.join(sorted(known))}.")
    return known[name]


@cache
def _read(path: str) -> dict[str, Entry]:
    entries = {}
    for name, table in tomllib.loads(Path(path).read_text()).items():
        lists = {kind: [File(**file) for file in table[kind]] for kind in ("files", "packs")}
        entries[name] = Entry(name, **(table | lists))
    return entries
