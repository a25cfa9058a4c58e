"""List the platforms, and recognise which one a download is from.

A platform is a module with two functions: `looks_like` returns whether a download is from it, and
`items` yields the Item objects of a download. It may also have two constants: NAME is the pattern
for an entry's name, and INNER is the folder inside a course that contains the submissions.
"""

from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from autograder.collect.download import Entry, is_clone, is_dir, listed
from autograder.collect.platforms import (
    canvas,
    folders,
    github,
    gradescope,
    jupyterhub,
    moodle,
    nbgrader,
)

PLATFORMS: dict[str, ModuleType] = {
    "moodle": moodle,
    "canvas": canvas,
    "gradescope": gradescope,
    "github": github,
    "jupyterhub": jupyterhub,
    "nbgrader": nbgrader,
    "folders": folders,  # last, because it accepts every download
}


def looks_like(place: Path) -> str | None:
    """Return the platform that this download seems to be from."""
    for name, platform in PLATFORMS.items():
        home = below_wrapper(place, platform)
        if platform.looks_like(home, listed(home)):
            return name
    return None


def resemblance(name: str, platform: str) -> str:
    """Return a message for a download that seems to need a different `--from` option."""
    what = "students' folders" if PLATFORMS[platform] is folders else f"a download of {platform}"
    return f"{name} looks like {what}: use --from {platform}"


def below_wrapper(home: Path, platform: ModuleType) -> Path:
    """Return the folder with the submissions.

    A zip may have a single folder around everything, and a course's folder may contain the
    exchange.
    """
    for _ in range(3):
        entries = listed(home)
        inner = next((e for e in entries if e.name == getattr(platform, "INNER", "")), None)
        if inner is None and is_wrapper(entries, platform):
            [inner] = entries
        if inner is None:
            break
        home = Path(inner.path)
    return home


def is_wrapper(entries: Sequence[Entry], platform: ModuleType) -> bool:
    """Return whether the only entry is a folder that contains the submissions."""
    if len(entries) != 1 or not is_dir(entries[0]) or is_clone(entries[0]):
        return False
    named, home = getattr(platform, "NAME", None), Path(entries[0].path)
    if named and named.match(entries[0].name):
        return False
    inside = listed(home)
    if platform is folders:
        return folders.are_students(inside)
    return platform.looks_like(home, inside)
