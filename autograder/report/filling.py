"""Fill in Canvas's export or Moodle's worksheet.

Other cells stay as they are, points are converted to the assignment's scale, and a sentence reports
what was done.
"""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from autograder import strict_csv
from autograder.errors import SettingsError
from autograder.safe_text import printable
from autograder.verdict import Grade
from autograder.wording import enumerated

# 1,000 is not changed: it is a thousand in some places and one in others
NUMBER = re.compile(r"\d+(?:[.,]\d{1,2})?")
NAMED = 5  # students in a sentence


def read_table(path: Path) -> list[list[str]]:
    """Return the cells. Separators depend on the site's language. Cells may contain line breaks."""
    text = strict_csv.read_text(path)
    separator = strict_csv.separator(text)
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
        return [line for line in reader if line]
    except csv.Error as error:
        raise SettingsError(f"{path} cannot be read: {error}") from None


def write_table(lines: Iterable[Sequence[object]]) -> str:
    """Return the table as CSV.

    The cells that we fill in are already harmless; all others are as the site exported them.
    """
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerows(lines)
    return text.getvalue()


def maximum_in(cell: str) -> float | None:
    text = cell.strip()
    return float(text.replace(",", ".")) or None if NUMBER.fullmatch(text) else None


def scaled(row: Grade, maximum: float | None) -> float:
    """Return the points of a graded row on the assignment's scale."""
    factor = maximum / row.worth if maximum and row.worth else 1.0
    return round((row.score or 0.0) * factor, 2)


def scale(ours: float, maximum: float | None) -> str:
    """Return a sentence on the conversion, or nothing if both maxima are the same."""
    if maximum is None:
        return f"points of {ours:g}, because the maximum there cannot be read"
    return "" if maximum == ours else f"points of {ours:g} written as points of {maximum:g}"


def summary(
    name: str,
    filled: Sequence[str],
    without: Sequence[str],
    graded: Iterable[str],
    known_by: str,
    *more: str,
) -> str:
    """Summarise how many lines have points, which have none, and which students lack a line.

    `without` are the names in the lines that we have no points for.
    """
    parts = [f"{name}: {len(filled)} of {len(filled) + len(without)} students filled in"]
    if lost := sorted(set(graded) - set(filled)):
        parts.append(f"no line there for {some(lost)} (the roster needs their {known_by})")
    if filled and without:
        parts.append(f"without points here: {some(without)}")
    return "; ".join([*parts, *filter(None, more)])


def some(names: Iterable[str]) -> str:
    return enumerated([printable(name, 60) for name in names], NAMED)
