"""The folders that may contain data: COURSE_DATA, then a cache folder."""

import os
from dataclasses import dataclass
from pathlib import Path

from lessons.toolkit.data.catalogue import Entry, File

ARCHIVES = (".tar", ".tar.gz", ".tar.xz")


@dataclass(frozen=True)
class DataFolder:
    """A folder to search, and the reason why."""

    why: str
    folder: Path


def cache_folder() -> Path:
    """Return COURSE_DATA_CACHE or, if it is not set, dl-course/data in the user's cache folder."""
    if chosen := os.environ.get("COURSE_DATA_CACHE"):
        return Path(chosen).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "dl-course" / "data"


def places() -> list[DataFolder]:
    """Return all folders in the order in which they are searched."""
    cache = DataFolder("cache", cache_folder())
    if given := os.environ.get("COURSE_DATA"):
        return [DataFolder("COURSE_DATA", Path(given).expanduser()), cache]
    return [cache]


def find(entry: Entry, where: list[DataFolder]) -> dict[File, Path]:
    """Return the first copy of each file, unpacked or packed; files without a copy are left out.

    An unpacked file in any folder takes precedence over a packed one, and a packed file over an
    archive, because it opens faster.
    """
    folders = [place.folder / folder for place in where for folder in entry.folders]
    found = {}
    for file in entry.files:
        names = [file.name, f"{file.name}.gz", *archive_names(entry)]
        candidates = [folder / name for name in names[:2] for folder in folders]
        candidates += [folder / name for folder in folders for name in names[2:]]
        for path in candidates:
            if os.path.isfile(path):  # False, not an error, if we have no permission
                found[file] = path
                break
    return found


def archive_names(entry: Entry) -> list[str]:
    """Return all possible names of the data set's archive, in any archive format."""
    stems = {pack.name.split(".tar")[0]: None for pack in entry.packs if pack.is_archive}
    return [stem + suffix for stem in stems for suffix in ARCHIVES]


def is_archive(path: Path) -> bool:
    return path.name.endswith(ARCHIVES)


def home(entry: Entry, folder: Path) -> Path:
    """Return the folder for this data set inside a cache."""
    return folder / entry.folders[0]
