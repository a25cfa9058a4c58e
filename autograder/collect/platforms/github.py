"""Read clones of one assignment's repositories, as GitHub Classroom and Classroom 50 name them.

02-serial-submissions/02-serial-ada-l/
hpc-02-serial_submissions_2026_03_01_T_20_00_00/hpc-02-serial-ada-l/
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from autograder.collect.download import Entry, Item, is_clone, is_dir
from autograder.settings.claims import Claim, WhoIs
from autograder.submissions.lesson_names import hinted_lesson, lesson_of

FOLDER = re.compile(
    r"(?P<slug>.+?)(?:-submissions|_submissions_\d{4}_\d\d_\d\d_T_\d\d_\d\d_\d\d)\Z"
)


def looks_like(place: Path, entries: Sequence[Entry]) -> bool:
    return bool(FOLDER.match(place.name)) or any(is_dir(one) and is_clone(one) for one in entries)


def items(place: Path, entries: Sequence[Entry], who: WhoIs) -> Iterator[Item]:
    """Yield the items, one for each repository.

    If the full text after the slug matches a student in any repository, it must match in all of
    them, so `foo-ada` does not belong to ada. Otherwise, only the end of a repository's name has to
    match a student.
    """
    match = FOLDER.match(place.name)
    slug = match["slug"] if match else ""
    lesson = lesson_of(slug) or hinted_lesson(slug.rpartition("-")[2]) or ""
    found: list[tuple[Entry, Claim]] = []
    for entry in filter(is_dir, entries):
        named = slug and entry.name.casefold().startswith(f"{slug.casefold()}-")
        own = entry.name[len(slug) + 1 :] if named else entry.name
        found.append((entry, Claim(own, ids=(("github", own),))))
    whole = any(who(claim).students for _, claim in found)
    for entry, claim in found:
        if not whole:
            claim = replace(claim, ends_with=claim.spelt)
        yield Item(Path(entry.path), (claim,), lesson=lesson)
