"""What lies in a download: an item for each folder, archive or file that somebody submitted."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from autograder.errors import SettingsError
from autograder.settings.claims import Claim
from autograder.submissions.kinds import is_clutter, is_package, stem
from autograder.submissions.regular_files import why

Entry = os.DirEntry[str]


@dataclass(frozen=True, slots=True)
class Item:
    """One folder, archive or file of a download."""

    path: Path
    claims: tuple[Claim, ...]  # of all who submitted it together
    called: str = ""  # by the student, where the platform put something before the name
    lesson: str = ""  # that the platform's name says; the outputs know better
    submitted: str = ""  # as the platform noted it
    late: bool = False  # the platform says so
    label: str = ""  # tells it from other attempts of the same student
    download: str = ""  # the name of the download that it is in


def listed(place: Path) -> list[Entry]:
    """Return what is in a folder of the instructor's, sorted by name."""
    try:
        entries = sorted(os.scandir(place), key=lambda entry: entry.name)
    except OSError as error:
        raise SettingsError(f"{place} cannot be read: {why(error)}") from None
    return [entry for entry in entries if not is_clutter(entry.name)]


def is_dir(entry: Entry) -> bool:
    return entry.is_dir(follow_symlinks=False)


def is_clone(entry: Entry) -> bool:
    return os.path.exists(os.path.join(entry.path, ".git"))  # False, if nobody may look


def name_without_ending(entry: Entry) -> str:
    return stem(entry.name) if is_package(entry.name) and not is_dir(entry) else entry.name


def numbers_of(pairs: Iterable[tuple[str, str]]) -> Mapping[str, set[str]]:
    """Return the numbers by name: two students of one name are told apart by them."""
    found: dict[str, set[str]] = {}
    for name, number in pairs:
        found.setdefault(name, set()).add(number)
    return found
