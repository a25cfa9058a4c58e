"""Whether a folder is one student's own, or that of a class: by the names in it and what they hold.

`02_serial` is a lesson and `02 Ben` is a student, though both begin alike.
"""

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from autograder.submissions import archives
from autograder.submissions.claims import Claim, WhoIs
from autograder.submissions.file_kinds import OUTPUT, is_clutter, is_package
from autograder.submissions.lesson_names import HINT, hinted_lesson, lesson_of
from autograder.submissions.regular_files import open_regular

Entry = os.DirEntry[str]
PERSON = re.compile(r"\d\d[ ._-]+[^\W\d_]")  # and the letter is a capital
RECORDED = re.compile(rb'"lesson": ?"(\w{1,20})"')
MOST_PEEKED, PEEKED = 10, 1 << 16  # files of a folder, bytes of a file


def is_of_one_student(
    place: Path, entries: Sequence[Entry], folders: Sequence[Entry], who: WhoIs
) -> bool:
    """It has outputs of its own, or nothing but lessons."""
    loose = any(
        entry.is_file(follow_symlinks=False) and OUTPUT.match(entry.name) for entry in entries
    )
    opened = any(archives.is_archive(entry.name) and not is_dir(entry) for entry in entries)
    if loose and (lesson_of(place.resolve().name) or not (folders or opened)):
        return True
    return are_lessons([entry.name for entry in folders]) and not are_students(folders, who)


def are_lessons(names: Sequence[str]) -> bool:
    """All of them, and not all by a bare number as a class without names may have."""
    told = [lesson_of(name) or (hinted_lesson(name) if worded(name) else None) for name in names]
    return any(told) and all(told[at] or hinted_lesson(names[at]) for at in range(len(names)))


def worded(name: str) -> bool:
    match = HINT.match(name)
    return bool(match and (match["lesson"] or match["task"]))


def are_students(folders: Sequence[Entry], who: WhoIs) -> bool:
    """Folders with lessons' numbers, of students in a list: the roster knows them, other lessons
    lie in them, or they are called like people and hold what another lesson's programs printed."""
    if any(who(claim_of(entry)).students for entry in folders):
        return True
    if len(folders) > 1 and all(is_clone(entry) for entry in folders):
        return True  # clones of their repositories
    inside = {entry.name: listed(Path(entry.path)) for entry in folders}
    if any(holds_another_lesson(name, entries) for name, entries in inside.items()):
        return True
    if not all(PERSON.match(n) and n.strip("0123456789 ._-")[:1].isupper() for n in inside):
        return False
    packed = [any(is_package(one.name) for one in entries) for entries in inside.values()]
    recorded = {name: lessons_recorded(entries) for name, entries in inside.items()}
    if not any(recorded.values()):
        return any(packed)
    return any(found - {lesson_of(name)} for name, found in recorded.items())


def is_clone(entry: Entry) -> bool:
    return os.path.exists(os.path.join(entry.path, ".git"))  # False, if nobody may look


def claim_of(entry: Entry) -> Claim:
    """Of a folder or an archive that no platform has named: `x-ada` may be ada's repository, if it
    is one; else it is anybody's."""
    name = archives.stem(entry.name) if is_package(entry.name) and not is_dir(entry) else entry.name
    return Claim(name, ends_with=name if is_dir(entry) and is_clone(entry) else "")


def holds_another_lesson(name: str, entries: Iterable[Entry]) -> bool:
    below = [archives.stem(e.name) if is_package(e.name) else e.name for e in entries]
    inner = {lesson_of(one) for one in below if "." not in one} - {None}
    return bool(inner - {lesson_of(name) or hinted_lesson(name)})


def lessons_recorded(entries: Iterable[Entry]) -> set[str]:
    """The lessons that the first outputs in a folder name."""
    found: set[str] = set()
    outputs = [one for one in entries if OUTPUT.match(one.name) and not is_dir(one)]
    for entry in outputs[:MOST_PEEKED]:
        try:
            with open_regular(Path(entry.path)) as file:
                found |= {name.decode() for name in RECORDED.findall(file.read(PEEKED))}
        except OSError:
            continue
    return found


def is_dir(entry: Entry) -> bool:
    return entry.is_dir(follow_symlinks=False)


def listed(place: Path) -> list[Entry]:
    """What lies in a folder; nothing, if nobody may look."""
    try:
        entries = sorted(os.scandir(place), key=lambda entry: entry.name)
    except OSError:
        return []
    return [entry for entry in entries if not is_clutter(entry.name)]
