"""The platforms, and what a download looks like where nobody said which it is from."""

from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from autograder.collect import canvas, folders, github, gradescope, jupyterhub, moodle, nbgrader
from autograder.collect.download import Entry, is_clone, is_dir, listed

PLATFORMS: dict[str, ModuleType] = {
    "moodle": moodle,
    "canvas": canvas,
    "gradescope": gradescope,
    "github": github,
    "jupyterhub": jupyterhub,
    "nbgrader": nbgrader,
    "folders": folders,  # last: it looks like all of the others
}


def looks_like(place: Path) -> str | None:
    """Return the platform whose download this looks like."""
    for name, platform in PLATFORMS.items():
        home = below_wrapper(place, platform)
        if platform.looks_like(home, listed(home)):
            return name
    return None


def resemblance(name: str, platform: str) -> str:
    """Return a sentence for a download that looks as if another option is right."""
    what = "students' folders" if PLATFORMS[platform] is folders else f"a download of {platform}"
    return f"{name} looks like {what}: use --from {platform}"


def below_wrapper(home: Path, platform: ModuleType) -> Path:
    """A zip may hold one folder with everything in it, and a course's folder is an exchange's."""
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
    """Return whether one folder is alone, and not a student's by the platform's naming."""
    if len(entries) != 1 or not is_dir(entries[0]) or is_clone(entries[0]):
        return False
    named, home = getattr(platform, "NAME", None), Path(entries[0].path)
    if named and named.match(entries[0].name):
        return False
    inside = listed(home)
    if platform is folders:
        return folders.are_students(inside)
    return platform.looks_like(home, inside)
