"""Read back the student records that the grader wrote."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json

from autograder.errors import SettingsError
from autograder.verdict import Grade

RECORDS, TABLE = "records", "grades.json"
KNOWN = ("student", "lesson", "title", "profile", "status", "score", "max_score", "page")
GRADE_AGAIN = "grade again into this folder"


@cache
def _grades() -> TypeAdapter[tuple[Grade, ...]]:
    return TypeAdapter(tuple[Grade, ...])


def record_file(folder: Path, page: str) -> Path:
    """Return the record of the student whose page has this name."""
    return folder / RECORDS / Path(page).with_suffix(".json").name


def read_record(folder: Path, page: str) -> tuple[Grade, ...]:
    """Return all grades of the student whose page has this name."""
    path = record_file(folder, page)
    try:
        return _grades().validate_python(from_json(path.read_bytes())["grades"])
    except (OSError, ValueError, LookupError, TypeError, ValidationError):
        raise SettingsError(f"{path} is missing or damaged: {GRADE_AGAIN}") from None


@dataclass(frozen=True, slots=True)
class GradedClass:
    """A folder of grades."""

    folder: Path
    heading: str  # of the pages
    rows: Sequence[Grade]


def read_class(folder: Path) -> GradedClass:
    """Return the table and the heading of a class."""
    path = folder / TABLE
    try:
        data = from_json(path.read_bytes())
        rows = _grades().validate_python([{k: row[k] for k in KNOWN} for row in data["grades"]])
        return GradedClass(folder, str(data.get("title", "Grades")), rows)
    except FileNotFoundError:
        raise SettingsError(
            f"{folder} holds no grades: give the folder of `autograder grade --out`"
        ) from None
    except (OSError, ValueError, LookupError, TypeError):
        raise SettingsError(f"{path} is damaged: {GRADE_AGAIN}") from None
