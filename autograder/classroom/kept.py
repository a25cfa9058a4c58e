"""Keep the results of each graded unit, so that only changed units are graded again.

A unit's state contains a key of all inputs: the files (size and times), rubrics, policy, and the
grader's own code.
"""

import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter
from pydantic_core import to_json

from autograder.classroom.class_settings import ClassSettings
from autograder.classroom.rows import Row
from autograder.safe_text import file_name
from autograder.submissions.class_folder import Unit
from autograder.submissions.walk import MAX_ENTRIES, entries_below
from autograder.writing import write_if_new

STATES, PAGES = ".states", "students"  # below the folder of --out
PROGRAMS = "programs"  # like PAGES, but for the instructor
RACY_SECONDS = 2.0  # a file changed so recently may change again with the same timestamp


@dataclass(frozen=True, slots=True)
class Done:
    """A unit's rows, and the key that must match for them to be reused (empty: never)."""

    unit: str
    key: str
    rows: tuple[Row, ...]


def state_of(unit: Unit, settings: ClassSettings) -> str:
    """Return a key computed from all inputs of a unit's grades, without reading the files.

    The key is empty if there are too many files, or if one has just been changed.
    """
    names = {*unit.students, *(one.owner for one in unit.submissions)}
    known = (settings.policy.of_student, settings.names.get, settings.logins.get)
    facts: list[Any] = [
        settings.key,
        [one.facts() for one in unit.submissions],
        [[fact(student) for fact in known] for student in unit.students],
        [one.key for one in settings.reruns.values() if one.student in names],
    ]
    places = [place for one in unit.submissions for place in one.places]
    files: list[Any] = []
    for path in (path for place in places for path in chain([place], entries_below(place))):
        try:
            info = os.lstat(path)
        except OSError:
            continue
        times = info.st_mtime_ns, info.st_ctime_ns
        files.append((os.fspath(path), info.st_mode, info.st_size, *times, info.st_ino))
        is_new = max(info.st_ctime, info.st_mtime) > time.time() - RACY_SECONDS
        if is_new or len(files) > MAX_ENTRIES:
            return ""
    return digest([repr([*facts, *files]).encode()])


def state_file(out: Path, unit: str) -> Path:
    return out / STATES / f"{file_name(unit)}.json"


def unchanged(unit: Unit, settings: ClassSettings, out: Path) -> Done | None:
    """Return the saved results of a unit if they are still valid and all their pages exist."""
    try:
        done = from_line(state_file(out, unit.name).read_bytes())
    except (OSError, ValueError):
        return None
    pages = {out / PAGES / row.page for row in done.rows}
    pages |= {out / PROGRAMS / row.page for row in done.rows if row.programs}
    same = done.unit == unit.name and done.key == state_of(unit, settings) != ""
    return done if same and all(os.path.exists(page) for page in pages) else None


def keep(out: Path, done: Done) -> None:
    write_if_new(state_file(out, done.unit), as_line(done))


def as_line(done: Done) -> str:
    return to_json(done).decode()


def from_line(line: bytes) -> Done:
    """Return the results on this line. Raise ValueError if the line contains anything else."""
    return _adapter().validate_json(line)


@cache
def _adapter() -> TypeAdapter[Done]:
    return TypeAdapter(Done)


@cache
def code_key() -> str:
    """Return a key that changes whenever a file of the grader changes.

    The key is cached, because a process keeps using the code that it has loaded.
    """
    return digest(part for name, content in grader_files() for part in (name.encode(), content))


def grader_files() -> Iterator[tuple[str, bytes]]:
    """Yield the relative path and the content of each file of the grader's code."""
    root = Path(__file__).parents[1]
    for path in sorted(root.rglob("*")):
        if path.suffix in (".py", ".j2", ".css"):
            yield path.relative_to(root).as_posix(), path.read_bytes()


def digest(parts: Iterable[bytes]) -> str:
    """Return one key for several contents."""
    whole = blake2b(digest_size=16)
    for part in parts:
        whole.update(len(part).to_bytes(8) + part)
    return whole.hexdigest()
