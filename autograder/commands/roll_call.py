"""Report who is in a class, and which submissions and files belong to nobody."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from autograder.safe_text import printable
from autograder.submissions import manifest
from autograder.wording import counted, enumerated


def not_graded(rows: Mapping[str, manifest.Row], unowned: Sequence[str]) -> list[str]:
    """Return lines about submissions and files that are not graded because they have no student."""
    of_nobody = [row for row in rows.values() if not row.owners]
    waiting = [row for row in of_nobody if manifest.is_doubtful(row)]
    settled = [row.folder for row in of_nobody if row not in waiting]
    lines = listed_lines(
        ("Files that belong to nobody", unowned),
        ("Not graded, because the row names no student", settled),
    )
    if waiting:
        names = some(manifest.reasons(waiting), len(waiting))
        lines.append(
            f"{counted(len(waiting), 'submission')} without an owner, because the roster lacked "
            f"these ids, or had them twice, when they were collected: {names}. Write the student "
            f"into `students` in {manifest.NAME}, and add the id to the roster for the next "
            "download. If the roster has the id now and the work was collected again, delete the "
            "row and its folder."
        )
    return lines


def to_check(rows: Mapping[str, manifest.Row], folder: Path, unowned: Sequence[str]) -> list[str]:
    """Return what to check in a class's manifest. `unowned` lists files that belong to nobody."""
    doubtful = [row.folder for row in rows.values() if row.owners and manifest.is_doubtful(row)]
    names = some(doubtful, len(doubtful))
    lines = [f"To check in {folder / manifest.NAME}: {names}"] if doubtful else []
    return [*lines, *not_graded(rows, unowned)]


def against_roster(students: Collection[str], people: Collection[str]) -> list[str]:
    """Return who submitted nothing, and who is not on the roster."""
    if not people:
        return []
    return listed_lines(
        ("Nothing submitted by", sorted({*people} - {*students})),
        ("Not on the roster", sorted({*students} - {*people})),
    )


def listed_lines(*items: tuple[str, Sequence[str]]) -> list[str]:
    """Return a line for each text that has names to list."""
    return [f"{text}: {some(names)}" for text, names in items if names]


def some(names: Sequence[str], most: int = 8) -> str:
    return enumerated([printable(name, 200) for name in names], most)
