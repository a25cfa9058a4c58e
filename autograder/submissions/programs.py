"""The programs that a student handed in, as text: read, and never run, imported or parsed."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from autograder.submissions.regular_files import open_regular
from autograder.text_hash import text_hash

MOST_FILES = 100
MOST_BYTES = 256_000  # of one program


def is_program(name: str) -> bool:
    return name.lower().endswith(".py")


@dataclass(frozen=True, slots=True)
class HandedIn:
    """A program; without a hash and lines where it cannot be read or is far too long."""

    name: str
    hash: str | None
    lines: tuple[str, ...] = ()

    def is_called(self, name: str) -> bool:
        """`network.py` is also `02_serial/network.py`: it may have been packed deeper."""
        return f"/{self.name}".endswith(f"/{name}")


def read_programs(files: Mapping[Path, str]) -> list[HandedIn]:
    found: dict[tuple[str, str | None], HandedIn] = {}
    for path, name in sorted(files.items(), key=lambda item: (item[1].count("/"), item[1])):
        if len(found) == MOST_FILES:
            break
        program = read_program(path, name)
        found.setdefault((name.rpartition("/")[2], program.hash), program)  # copies once
    return list(found.values())


def read_program(path: Path, name: str) -> HandedIn:
    try:
        with open_regular(path) as file:
            data = file.read(MOST_BYTES + 1)
    except OSError:
        data = b""
    return HandedIn(name, *read_text(data))


@lru_cache(500)  # many programs of a class are as they were released
def read_text(data: bytes) -> tuple[str | None, tuple[str, ...]]:
    if not data or len(data) > MOST_BYTES:
        return None, ()
    return text_hash(data), tuple(data.decode("utf-8-sig", "replace").splitlines())
