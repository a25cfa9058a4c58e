"""Read folders and archives that people named after students.

ada/02_serial/…
01 Ada/work.zip
Lovelace_Ada.tar.gz
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from autograder.collect.download import (
    Entry,
    Item,
    is_clone,
    is_dir,
    listed,
    name_without_ending,
)
from autograder.settings.claims import Claim, WhoIs
from autograder.submissions.class_folder import are_lessons
from autograder.submissions.kinds import WORK, is_package, kind_of
from autograder.submissions.lesson_names import hinted_lesson


def looks_like(place: Path, entries: Sequence[Entry]) -> bool:
    return any(is_dir(entry) or is_package(entry.name) for entry in entries)


def are_students(entries: Sequence[Entry]) -> bool:
    """Return whether the entries are students' folders or archives rather than lessons."""
    if any(hinted_lesson(name_without_ending(entry)) for entry in entries):
        return False
    packed = [entry for entry in entries if is_package(entry.name) and not is_dir(entry)]
    inside = [listed(Path(entry.path)) for entry in filter(is_dir, entries)]
    having = [one for one in inside if any(kind_of(file.name) in WORK for file in one)]
    lessons = any(hinted_lesson(e.name) for one in inside for e in one if is_dir(e))
    return lessons or max(len(packed), len(having)) > 1


def are_of_one_student(entries: Sequence[Entry]) -> bool:
    """Return whether the entries are all lessons of one student or all files of one student."""
    loose = any(kind_of(entry.name) in WORK and not is_dir(entry) for entry in entries)
    return not any(map(is_dir, entries)) if loose else are_lessons(entries)


def items(place: Path, entries: Sequence[Entry], who: WhoIs) -> Iterator[Item]:
    """Yield one item per folder or archive. A clone named `x-ada` may belong to the student ada."""
    for entry in entries:
        if entry.is_symlink() or not (is_dir(entry) or is_package(entry.name)):
            continue
        name = name_without_ending(entry)
        repository = name if is_dir(entry) and is_clone(entry) else ""
        yield Item(Path(entry.path), (Claim(name, ends_with=repository),))
