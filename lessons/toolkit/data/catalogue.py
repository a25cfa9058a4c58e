"""The catalogue: the data sets, their files, and their checksums."""

import difflib
import hashlib
import os
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lessons.toolkit.data.errors import DataError


@dataclass(frozen=True)
class File:
    """One unpacked file. `holds` names its contents: `x_train`, `y_train`, …, `train` or `test`."""

    name: str
    holds: str
    bytes: int
    sha256: str


@dataclass(frozen=True)
class Pack:
    """One file on a mirror: a single file as .gz, or all files as .tar.gz or .tar.xz."""

    name: str
    bytes: int
    sha256: str

    @property
    def is_archive(self) -> bool:
        return ".tar" in self.name


@dataclass(frozen=True)
class Entry:
    """One data set of the catalogue."""

    name: str
    title: str
    format: str
    image: tuple[int, ...]
    train_samples: int
    test_samples: int
    folders: tuple[str, ...]
    mirrors: tuple[str, ...]
    files: tuple[File, ...]
    packs: tuple[Pack, ...]

    @property
    def sha256(self) -> str:
        """Return one checksum for the whole set, however it is packed."""
        return hashlib.sha256("".join(file.sha256 for file in self.files).encode()).hexdigest()

    def inside(self, pack: Pack) -> tuple[File, ...]:
        """Return the files in a pack."""
        if pack.is_archive:
            return self.files
        return tuple(file for file in self.files if pack.name == f"{file.name}.gz")


def catalogue() -> dict[str, Entry]:
    """Return the course's data sets, or those in the file that COURSE_CATALOGUE names."""
    return _read(os.environ.get("COURSE_CATALOGUE") or str(Path(__file__).with_suffix(".toml")))


def entry(name: str) -> Entry:
    """Return one data set by its name."""
    known = catalogue()
    if name in known:
        return known[name]
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(sorted(known))}."
    raise DataError(f"There is no data set {name!r}; {hint}")


@cache
def _read(path: str) -> dict[str, Entry]:
    try:
        tables = tomllib.loads(Path(path).read_text())
        return {name: _entry(name, table) for name, table in tables.items()}
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise DataError(
            f"The catalogue of data sets {path} cannot be read ({error}); correct it or unset "
            "COURSE_CATALOGUE."
        ) from error


def _entry(name: str, table: dict) -> Entry:
    return Entry(
        name=name,
        title=table["title"],
        format=table["format"],
        image=tuple(table["image"]),
        train_samples=table["train_samples"],
        test_samples=table["test_samples"],
        folders=tuple(table["folders"]),
        mirrors=tuple(table["mirrors"]),
        files=tuple(File(**file) for file in table["files"]),
        packs=tuple(Pack(**pack) for pack in table["packs"]),
    )
