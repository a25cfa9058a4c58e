"""Read the export of Canvas's gradebook as a roster.

Student,ID,SIS User ID,SIS Login ID,Section,02 Serial (5502)
    Points Possible,,,,,10
"Lovelace, Ada",101,,alove,HPC,8
"""

from collections import Counter
from collections.abc import Mapping, Sequence

MAXIMA = "Points Possible"  # in the Student column: marks the line with the maximum points
TEST_STUDENT = "Student, Test"  # Canvas's preview of a course as a student
LOGIN = "sis login id"
Cells = Mapping[str, str]


def is_gradebook(rows: Sequence[Cells]) -> bool:
    """Return whether the rows are from Canvas, which writes the maximum points above the grades."""
    return any(row.get("student") == MAXIMA for row in rows[:3])


def students(rows: Sequence[Cells]) -> list[Cells | None]:
    """Convert each row to our roster's columns, with None for a row that is not a student."""
    names = Counter(full_name(row) for row in rows)
    return [with_our_columns(row, names) if is_student(row) else None for row in rows]


def is_student(row: Cells) -> bool:
    name = row.get("student", "")
    return name not in ("", MAXIMA) and (name != TEST_STUDENT or bool(row.get(LOGIN)))


def full_name(row: Cells) -> str:
    """Return `Ada Lovelace` for `Lovelace, Ada`."""
    last, _, first = row.get("student", "").partition(",")
    return f"{first.strip()} {last}".strip()


def with_our_columns(row: Cells, names: Mapping[str, int]) -> Cells:
    """Return the row with our columns added.

    `student` is the login or, if there is none, the name.
    """
    name, canvas_id, login = full_name(row), row.get("id", ""), row.get(LOGIN, "")
    called = name if names[name] == 1 else f"{name} {canvas_id}".strip()
    email = login if "@" in login else ""
    ours = {"student": login or called, "id": "", "canvas_id": canvas_id, "name": name}
    return {**row, **ours, "email": email}
