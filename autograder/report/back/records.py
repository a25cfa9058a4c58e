"""Read back the grades that the grader wrote."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter
from pydantic_core import from_json

from autograder.data_files import NEW
from autograder.errors import SettingsError
from autograder.verdict import Grade

RECORDS, TABLE = "records", "grades.json"
KNOWN = ("student", "lesson", "title", "profile", "status", "score", "max_score")


@dataclass(frozen=True, slots=True)
class GradedClass:
    """A folder of grades."""

    folder: Path
    heading: str  # of the pages
    rows: Sequence[Grade]


@cache
def _grades() -> TypeAdapter[tuple[Grade, ...]]:
    return TypeAdapter(tuple[Grade, ...])


def read(path: Path, members: Collection[str] = ()) -> tuple[tuple[Grade, ...], dict[str, Any]]:
    """Return the grades in a file, with these members or all, and everything else in the file."""
    try:
        data = from_json(path.read_bytes())
        rows = [{key: row[key] for key in members or row} for row in data["grades"]]
        return _grades().validate_python(rows), data
    except (OSError, ValueError, LookupError, TypeError):
        raise SettingsError(f"{path} is missing or damaged: grade again into this folder") from None


def record_file(page: str) -> str:
    """Return the record of the student whose page has this name."""
    return f"{RECORDS}/{Path(page).with_suffix('.json').name}"


def read_class(folder: Path) -> GradedClass:
    """Return the table and the heading of a class."""
    if not (folder / TABLE).exists():
        raise SettingsError(f"{folder} holds no grades: name the --out of `autograder grade`")
    if (folder / NEW).exists():  # records may be newer than the table
        raise SettingsError(f"{folder} is not complete: grade again, and wait for the end")
    rows, data = read(folder / TABLE, KNOWN)
    return GradedClass(folder, str(data.get("title", "Grades")), rows)
