"""Keep the results of each graded unit, so that only changed units are graded again.

A unit's state contains a key of all inputs: the files (size and times), rubrics, policy, and the
grader's own code.
"""

import json
import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path

from pydantic_core import to_json

from autograder.classroom.class_settings import ClassSettings
from autograder.classroom.rows import Row, from_data
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
    digest = blake2b(settings.key.encode(), digest_size=16)
    names = {*unit.students, *(one.owner for one in unit.submissions)}
    mine = [
        [one.facts() for one in unit.submissions],
        [settings.policy.of_student(student) for student in unit.students],
        [settings.names.get(student) for student in unit.students],
        [settings.logins.get(student) for student in unit.students],
        [one.key for one in settings.reruns.values() if one.student in names],
    ]
    digest.update(json.dumps(mine, default=str).encode())
    newest = 0.0
    places = (place for one in unit.submissions for place in one.places)
    for count, path in enumerate(path for place in places for path in _paths(place)):
        try:
            info = os.lstat(path)
        except OSError:
            continue
        facts = (path, info.st_mode, info.st_size, info.st_mtime_ns)
        digest.update(
            repr((*facts, info.st_ctime_ns, info.st_ino)).encode("utf-8", "surrogateescape")
        )
        newest = max(newest, info.st_ctime, info.st_mtime)
        if count >= MAX_ENTRIES or newest > time.time() - RACY_SECONDS:
            return ""
    return digest.hexdigest()


def _paths(place: Path) -> Iterator[str]:
    """Yield a file, or a folder and everything below it in a fixed order, but follow no links."""
    yield str(place)
    yield from (entry.path for entry in entries_below(place))


def pages_there(out: Path, done: Done) -> bool:
    pages = {out / PAGES / row.page for row in done.rows}
    pages |= {out / PROGRAMS / row.page for row in done.rows if row.programs}
    return all(os.path.exists(page) for page in pages)


def state_file(out: Path, unit: str) -> Path:
    return out / STATES / f"{file_name(unit)}.json"


def unchanged(unit: Unit, settings: ClassSettings, out: Path) -> Done | None:
    """Return the saved results of a unit if they are still valid and all their pages exist."""
    try:
        done = from_line(state_file(out, unit.name).read_bytes())
    except (OSError, *NO_LINE):
        return None
    same = done.unit == unit.name and done.key == state_of(unit, settings) != ""
    return done if same and pages_there(out, done) else None


def keep(out: Path, done: Done) -> None:
    write_if_new(state_file(out, done.unit), as_line(done))


def as_line(done: Done) -> str:
    name = json.dumps(done.unit)  # may contain bytes that are not text
    return f"[{name},{json.dumps(done.key)},{to_json(done.rows).decode()}]"


NO_LINE = (ValueError, LookupError, TypeError)  # what `from_line` raises on other contents


def from_line(line: bytes) -> Done:
    name, key, rows = json.loads(line)
    return Done(name, key, tuple(from_data(row) for row in rows))


@cache
def code_key() -> str:
    """Return a key that changes whenever a file of the grader changes.

    The key is cached, because a process keeps using the code that it has loaded.
    """
    digest = blake2b(digest_size=16)
    root = Path(__file__).parents[1]
    for path in sorted(root.rglob("*")):
        if path.suffix in (".py", ".j2", ".css"):
            digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def digest(parts: Iterable[bytes]) -> str:
    """Return one key for several contents."""
    whole = blake2b(digest_size=16)
    for part in parts:
        whole.update(len(part).to_bytes(8) + part)
    return whole.hexdigest()
