"""Find the course, its lessons, and the files that were not created by a lesson's runs."""

import fnmatch
import os
import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

import click

LESSON_NAME = re.compile(r"\d\d_[a-z0-9_]+")

START_PAGE = "START.md"  # which `lessons start` writes

# Files that running a lesson leaves in its folder: never copied, generated or reported as unknown.
PRODUCTS = (
    "*.out",
    "*.err",
    "*.npy",
    "*.pyc",
    "answers.txt",
    "checkpoints",
    "parts",
    "stack_of_rank_*.txt",
    "timeline*.json",
    "my_*.png",
    START_PAGE,
    "__pycache__",
    ".*",
)


def course_root() -> Path:
    """Return the folder that contains solutions/, lessons/, cluster/ and autograder/."""
    root = os.environ.get("COURSE_ROOT") or Path(__file__).parent.parent
    return Path(root).resolve()


def lesson_folders(edition: Path) -> dict[str, Path]:
    """Return the folder of every lesson in `edition` (solutions/ or lessons/), by number."""
    if not edition.is_dir():
        return {}
    folders = [p for p in edition.iterdir() if p.is_dir() and LESSON_NAME.fullmatch(p.name)]
    return {p.name[:2]: p for p in sorted(folders)}


def choose_lessons(edition: Path, asked: Iterable[str]) -> dict[str, Path]:
    """Return the requested lessons (as 02, 2 or 02_serial), or all.

    An unknown lesson is a usage error.
    """
    folders = lesson_folders(edition)
    if not folders:
        raise click.UsageError(f"There are no lessons in {edition}.")
    chosen = {}
    for name in asked:
        name = name.rstrip("/")  # as a shell's completion writes a folder
        number = name.split("_")[0].zfill(2)
        if number not in folders or ("_" in name and name != folders[number].name):
            known = ", ".join(p.name for p in folders.values())
            raise click.UsageError(f"There is no lesson {name} in {edition}; there are: {known}.")
        chosen[number] = folders[number]
    return dict(sorted(chosen.items())) if chosen else folders


def notebook_in(folder: Path) -> Path:
    """Return a lesson's notebook, which has the name of the lesson's folder: 00_cluster.ipynb.

    A student's copy of the folder may have another name, and older releases called it lesson.ipynb.
    """
    own = folder / f"{folder.name}.ipynb"
    others = [
        path
        for path in sorted(folder.glob("*.ipynb"))
        if LESSON_NAME.fullmatch(path.stem) or path.stem == "lesson"
    ]
    return own if own.is_file() or not others else others[0]


def is_product(relative: Path) -> bool:
    return any(fnmatch.fnmatch(part, rule) for part in relative.parts for rule in PRODUCTS)


def is_data(path: Path) -> bool:
    """Return whether a path is in a lesson's folder `data`, where runs of lesson 04 put files."""
    return any(
        LESSON_NAME.fullmatch(folder) and name == "data" for folder, name in pairwise(path.parts)
    )


def made_by_hand(folder: Path) -> Iterator[Path]:
    """Yield the files that were not created by a lesson's runs, relative to its folder."""
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder)
        if path.is_file() and not is_product(relative) and not is_data(folder.name / relative):
            yield relative
