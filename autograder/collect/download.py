"""List a download's items: the folders, archives and files that were submitted."""

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.errors import SettingsError
from autograder.settings.claims import Claim, one_spelling
from autograder.submissions.kinds import is_clutter, is_package, stem
from autograder.submissions.regular_files import why

Entry = os.DirEntry[str]


@dataclass(frozen=True, slots=True)
class Item:
    """One folder, archive or file of a download."""

    path: Path
    claims: tuple[Claim, ...]  # one for each student who shares the submission
    called: str = ""  # the student's own file name, without the platform's prefix
    lesson: str = ""  # from the platform's name; a lesson found in the outputs takes precedence
    submitted: str = ""  # the platform's time
    late: bool = False  # marked late by the platform
    upload: int = 0  # the platform's upload number; later uploads have larger ones
    label: str = ""  # distinguishes attempts of the same student
    download: str = ""  # the name of the download that contains it


def listed(place: Path) -> list[Entry]:
    """Return the entries of an instructor's folder, sorted by name."""
    try:
        entries = sorted(os.scandir(place), key=lambda entry: entry.name)
    except OSError as error:
        raise SettingsError(f"{place} cannot be read: {why(error)}") from None
    return [entry for entry in entries if not is_clutter(entry.name)]


def is_dir(entry: Entry) -> bool:
    return entry.is_dir(follow_symlinks=False)


def is_clone(entry: Entry) -> bool:
    return os.path.exists(os.path.join(entry.path, ".git"))  # False if the folder cannot be read


def name_without_ending(entry: Entry) -> str:
    return stem(entry.name) if is_package(entry.name) and not is_dir(entry) else entry.name


def named(entries: Iterable[Entry], form: re.Pattern[str]) -> Iterator[tuple[Entry, Any, bool]]:
    """Yield each matching entry, its match, and whether the name belongs to only one student.

    Numbers distinguish students with the same name.
    """
    matches = [(entry, match) for entry in entries if (match := form.match(entry.name))]
    people = {(one_spelling(match["name"]), match["id"]) for _, match in matches}
    count = Counter(name for name, _ in people)
    for entry, match in matches:
        yield entry, match, count[one_spelling(match["name"])] == 1
