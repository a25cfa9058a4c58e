"""Show a grade in a few characters, on the terminal and on pages."""

from collections.abc import Mapping

from autograder.codes import CheckStatus
from autograder.safe_text import printable
from autograder.settings.roster import Person
from autograder.verdict import WAITS, ChangedLine, Grade

PAGES = "students"  # the folder of their pages
SIGNS: dict[str, str] = dict(zip(CheckStatus, "✓◐✗≈?…", strict=True))
Titles = Mapping[str, Mapping[str, str]]  # lesson -> check -> title
LEGEND = (
    "✓ passed  ≈ borderline, full credit  ◐ some of the points  ✗ missed  ? not measured  "
    "… waits for the instructor"
)


def points(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}".rstrip("0").rstrip(".")


def before_rounding(row: Grade) -> str:
    return "" if row.unrounded is None else f"{points(row.unrounded)} before rounding"


def full_name(student: str, people: Mapping[str, Person]) -> str:
    """Return the student's full name from the roster, or else the name in the grades."""
    return printable(people.get(student, Person(student)).full_name or student)


def check_line(sign: str, score: float, most: float, title: str) -> str:
    worth = f"{points(score)}/{points(most)}" if most else "info"
    return f"  {sign} {worth:>9}  {title}"


def changed_line(line: ChangedLine) -> str:
    marks = f"   ({line.marks})" if line.marks else ""
    return f"  {line.number:5} {line.kind:3} {line.text}{marks}"


def notice(row: Grade) -> str:
    """Return the first reason to look, or the checks that lost points, followed by adjustments."""
    first = ""
    if row.look:
        first = str(row.look[0]) + (f" (+{len(row.look) - 1})" if len(row.look) > 1 else "")
    elif row.raw_score == (row.score if row.unrounded is None else row.unrounded):
        missed = [c.id for c in row.checks if c.score < c.points and c.status != WAITS]
        first = ("lost points: " + ", ".join(missed)) if missed else ""
    # If times are missing, one message reports it for all rows.
    return "; ".join(filter(None, (first, *row.for_instructor)))
