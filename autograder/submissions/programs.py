"""Read the programs and job files that students submitted as text. They are never run or parsed."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from autograder.submissions.regular_files import start_of
from autograder.text_hash import text_hash

MOST_FILES = 100
MOST_BYTES = 256_000  # per program


@dataclass(frozen=True, slots=True)
class HandedIn:
    """A submitted program. If `hash` and `lines` are empty, the file was unreadable or too long."""

    name: str
    hash: str | None
    lines: tuple[str, ...] = ()

    def is_called(self, name: str) -> bool:
        """Return whether the program has this name, ignoring the folder it was packed in."""
        return f"/{self.name}".endswith(f"/{name}")


def read_programs(files: Mapping[Path, str]) -> list[HandedIn]:
    found: dict[tuple[str, tuple[str, ...]], HandedIn] = {}
    for path, name in sorted(files.items(), key=lambda item: (item[1].count("/"), item[1])):
        if len(found) == MOST_FILES:
            break
        program = HandedIn(name, *read_text(start_of(path, MOST_BYTES + 1)))
        found.setdefault((name.rpartition("/")[2], program.lines), program)  # a copy counts once
    return list(found.values())


@lru_cache(500)  # a class has many programs that are unchanged from the release
def read_text(data: bytes) -> tuple[str | None, tuple[str, ...]]:
    if not data or len(data) > MOST_BYTES:
        return None, ()
    return text_hash(data), tuple(data.decode("utf-8-sig", "replace").splitlines())
