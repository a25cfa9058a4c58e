"""Grade one part of a class, as one task of an array job: `autograder grade --shard 2/8`.

A part writes its students' pages as usual, and then a file `shard-2-of-8.jsonl`: first the options,
then one line per unit. `autograder merge` combines the parts into a class.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.classroom import kept
from autograder.classroom.kept import Done
from autograder.classroom.one_unit import Work
from autograder.classroom.pool import grade_class
from autograder.errors import SettingsError
from autograder.submissions.class_folder import Unit
from autograder.writing import cannot_write, write_if_new

FILES, STUDENTS = "shard-*-of-*.jsonl", "students"
CALLED = {"grader": "version of the autograder", STUDENTS: "set of students"}


@dataclass(frozen=True, slots=True)
class Shard:
    """A part of a class: its number, counted from 1, and the number of parts."""

    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    @property
    def file_name(self) -> str:
        return f"shard-{self.number}-of-{self.of}.jsonl"

    def units(self, everybody: Sequence[Unit]) -> Sequence[Unit]:
        """Return every n-th unit in name order, so part sizes differ by at most one unit."""
        return everybody[self.number - 1 :: self.of]


def grade_shard(
    shard: Shard,
    units: Sequence[Unit],
    work: Work,
    graded_by: dict[str, str],
    processes: int,
    tick: Callable[[int], None],
) -> list[Done]:
    """Grade a part of the class, and write its file once the whole part is graded.

    `graded_by` are the fingerprints of the options and the class's students.
    """
    assert work.out is not None  # where the shards of a class are
    path = work.out / shard.file_name
    try:
        path.unlink(missing_ok=True)  # without its file, the part counts as unfinished
    except OSError as error:
        raise cannot_write(path, error) from None
    done = grade_class(units, work, processes, tick)
    head = {"shard": shard.number, "of": shard.of, "options": graded_by}
    lines = [json.dumps(head), *map(kept.as_line, done)]
    write_if_new(path, "\n".join(lines) + "\n")
    return done


def class_fingerprint(students: Iterable[str]) -> dict[str, str]:
    """Return the fingerprint of a class's students, which does not depend on their order."""
    return {STUDENTS: kept.digest([json.dumps(sorted(students)).encode()])}


# --- reading ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GradedShard:
    """The contents of a part's file."""

    path: Path
    shard: Shard
    options: dict[str, str]
    done: tuple[Done, ...]


def read_shard(path: Path) -> GradedShard | None:
    """Return a part's contents, or None if the file is truncated or from another version."""
    try:
        with path.open("rb") as file:
            head = json.loads(file.readline())
            done = tuple(map(kept.from_line, file))
            return GradedShard(path, Shard(head["shard"], head["of"]), head["options"], done)
    except (ValueError, LookupError, TypeError):
        return None


def check_alike(parts: Iterable[GradedShard], given: dict[str, str]) -> None:
    """Check that these parts were graded with the current options."""
    for part in parts:
        for name in {**part.options, **given}:
            if part.options.get(name) == given.get(name):
                continue
            other = CALLED.get(name, f"setting for {name}")
            again = "this part again, or give `merge` the options and files that it was graded with"
            if name == STUDENTS:
                again = "all parts again; unchanged students take little time"
            raise SettingsError(f"{part.path} was graded with another {other}: grade {again}")
