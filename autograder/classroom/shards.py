"""`autograder grade --shard 2/8`: one part of a class, for a job of an array to grade.

A part writes its students' pages as a whole class does, and last one file `shard-2-of-8.jsonl`:
what it was graded by, then a line a student. `autograder merge` makes the class of all parts.
"""

import json
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import click

from autograder.classroom import class_run
from autograder.classroom.class_run import Done
from autograder.classroom.mark import Settings
from autograder.commands.options import ClassOptions, digest, fingerprints
from autograder.submissions.collect import Student
from autograder.writing import cannot_write, write_if_new

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Part:
    """Which part of how many, counted from 1."""

    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    @property
    def file_name(self) -> str:
        return f"shard-{self.number}-of-{self.of}.jsonl"

    def students(self, everybody: Sequence[Student]) -> Sequence[Student]:
        """Every n-th in the order of names: parts differ by one student at most."""
        return everybody[self.number - 1 :: self.of]


def part_of(context: click.Context, option: click.Parameter, text: str | None) -> Part | None:
    if text is None:
        return None
    match = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text)
    part = Part(int(match[1]), int(match[2])) if match else Part(0, 0)
    if not 1 <= part.number <= part.of:
        raise click.BadParameter(f"{text!r} names no part; 2/8 is the second of eight")
    return part


option = click.option(
    "--shard",
    metavar="I/N",
    callback=part_of,
    help="Grade the I-th of N parts of the class; `autograder merge` puts them together.",
)


def grade(
    part: Part,
    students: Sequence[Student],
    settings: Settings,
    options: ClassOptions,
    out: Path,
    processes: int,
    tick: Callable[[int], None],
) -> list[Done]:
    """Grade a part, and write its file when all of it is done."""
    path = out / part.file_name
    try:
        path.unlink(missing_ok=True)  # until the new one is there, this part is not done
    except OSError as error:
        raise cannot_write(path, error) from None
    mine = part.students(students)
    done = class_run.grade_class(mine, settings, out, processes, tick, f".{path.stem}")
    head = {
        "format": FORMAT,
        "shard": part.number,
        "of": part.of,
        "class": digest_of(student.name for student in students),
        "options": fingerprints(options),
    }
    lines = [json.dumps(head), *map(class_run.as_line, done)]
    write_if_new(path, "\n".join(lines) + "\n")
    return done


def finish(part: Part, done: Sequence[Done], everybody: int, out: Path) -> NoReturn:
    """Print the part's grades and leave with the exit code."""
    from autograder.classroom.whole_class import exit_code
    from autograder.report import terminal

    rows = [row for one in done for row in one.rows]
    terminal.show_part(rows, f"{part}", len(done), everybody, out / part.file_name)
    sys.exit(exit_code(rows))


def digest_of(names: Iterable[str]) -> str:
    """Of a class by its students' names, in whatever order."""
    return digest([json.dumps(sorted(names)).encode()])


# --- reading ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Graded:
    """What the file of a part says."""

    path: Path
    part: Part
    everybody: str  # digest_of the class that it is a part of
    options: dict[str, str]
    done: tuple[Done, ...]


def read_part(path: Path) -> Graded | None:
    """None: the file is cut, or written by another version."""
    try:
        with path.open("rb") as file:
            head = json.loads(file.readline())
            if head["format"] != FORMAT:
                return None
            return Graded(
                path,
                Part(head["shard"], head["of"]),
                head["class"],
                head["options"],
                tuple(map(class_run.from_line, file)),
            )
    except class_run.NO_LINE:
        return None
