"""Who handed in, and where: folders, archives or bare files, in any of the usual layouts.

<student>/<lesson>/…            also below nbgrader's submitted/
<student>.zip or .tar.gz        with the lesson's folder or its files inside
<student>/<anything>.zip        as learning platforms hand them out
submission/ beside submission_metadata.json         Gradescope
output_123.out answers.txt      bare files: one student, one lesson
"""

import json
import os
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from autograder.submissions import archives
from autograder.submissions.file_kinds import OUTPUT, is_clutter, is_package
from autograder.submissions.lesson_names import lesson_of
from autograder.submissions.regular_files import open_regular


class NoSubmissionsError(Exception):
    """A named place that cannot be looked into; the message is for the instructor."""


@dataclass(frozen=True, slots=True)
class Student:
    """One student's place in the submissions; looked into only when graded."""

    name: str
    places: tuple[Path, ...]  # folders, archives, or the bare files themselves
    lesson: str | None = None  # when the files lie without a lesson's folder


def find_students(
    places: Iterable[Path], name: str | None = None, lesson: str | None = None
) -> list[Student]:
    """The students below the named places, sorted by name. Raises NoSubmissionsError."""
    places = list(places)
    files = [place for place in places if place.is_file() and not is_package(place.name)]
    by_name: dict[str, list[Path]] = {}
    if files:
        by_name[one_spelling(name or "submission")] = files
    for place in places:
        if place in files:
            continue
        for student, inner in students_in(place, name):
            by_name.setdefault(one_spelling(student), []).append(inner)
    only = places[0] if len(places) == 1 else None  # a lesson's own folder says its lesson
    if lesson is None and only is not None and [only] in by_name.values():
        lesson = lesson_of(only.resolve().name)
    return [Student(key, tuple(sorted(by_name[key])), lesson) for key in sorted(by_name)]


def students_in(place: Path, name: str | None) -> Iterator[tuple[str, Path]]:
    """Names with what lies under them in one place; `name` is that of whoever's own place it is."""
    if not place.exists():
        raise NoSubmissionsError(f"{place} does not exist. Name the folder with the submissions.")
    if is_package(place.name) and place.is_file():
        yield name or archives.stem(place.name), place
        return
    if (place / "submitted").is_dir():
        place = place / "submitted"
    gradescope = place.parent / "submission_metadata.json"
    if place.name == "submission" and gradescope.is_file():
        yield name or gradescope_student(gradescope), place
        return
    entries = entries_of(place)
    folders = [entry for entry in entries if entry.is_dir(follow_symlinks=False)]
    packed = [
        entry
        for entry in entries
        if is_package(entry.name) and not entry.is_dir(follow_symlinks=False)
    ]
    if is_of_one_student(place, entries, folders, packed):
        yield name or place.resolve().name, place
        return
    for entry in folders:
        yield entry.name, Path(entry.path)
    for entry in packed:
        yield archives.stem(entry.name), Path(entry.path)


def entries_of(place: Path) -> list[os.DirEntry[str]]:
    try:
        entries = sorted(os.scandir(place), key=lambda entry: entry.name)
    except OSError as error:
        raise NoSubmissionsError(f"{place} cannot be read: {error.strerror}") from None
    return [entry for entry in entries if not is_clutter(entry.name)]


def is_of_one_student(
    place: Path,
    entries: list[os.DirEntry[str]],
    folders: list[os.DirEntry[str]],
    packed: list[os.DirEntry[str]],
) -> bool:
    """Whether a place is one student's own: it has outputs of its own, or nothing but lessons."""
    loose = any(
        entry.is_file(follow_symlinks=False) and OUTPUT.match(entry.name) for entry in entries
    )
    opened = any(archives.is_archive(entry.name) for entry in packed)
    if loose and (lesson_of(place.resolve().name) or not (folders or opened)):
        return True
    return bool(folders) and all(lesson_of(entry.name) for entry in folders)


def one_spelling(name: str) -> str:
    """macOS writes é as e and an accent; rosters and other systems write one letter."""
    return unicodedata.normalize("NFC", name)


def gradescope_student(metadata: Path) -> str:
    try:
        with open_regular(metadata) as file:
            users = json.load(file)["users"]
        return str(users[0].get("email") or users[0].get("name") or users[0]["id"])
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return "submission"
