"""The programs that a student handed in, as text: read, and never run, imported or parsed."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath

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
    for path in sorted(files, key=lambda path: (len(PurePath(files[path]).parts), files[path])):
        if len(found) == MOST_FILES:
            break
        program = read_program(path, files[path])
        found.setdefault((PurePath(program.name).name, program.hash), program)  # copies once
    return list(found.values())


def read_program(path: Path, name: str) -> HandedIn:
    try:
        with open_regular(path) as file:
            data = file.read(MOST_BYTES + 1)
    except OSError:
        data = b""
    if not data or len(data) > MOST_BYTES:
        return HandedIn(name, None)
    lines = data.decode("utf-8-sig", "replace").splitlines()
    return HandedIn(name, text_hash(data), tuple(lines))
