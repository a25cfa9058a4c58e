"""Read a scaling table, the CSV that docs/foretell.md describes, into a study."""

import csv
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.errors import SettingsError
from autograder.measuring import laws
from autograder.measuring.interval import NotMeasured
from autograder.safe_text import shortened

VALUES = ("seconds", "samples_per_second", "speedup")
COLUMNS = ("workers", *VALUES, "nodes")
EXPECTED = (
    "Expected header: workers,seconds or workers,samples_per_second or workers,speedup; "
    "a column nodes may be added."
)
NUMBER = re.compile(r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
MOST_BYTES = 1_000_000


class TableError(SettingsError):
    """The table cannot be used. The command ends with exit code 2."""


@dataclass(frozen=True, slots=True)
class Table:
    """A study with the rows it was made from."""

    file: Path
    study: laws.Study
    points: tuple[tuple[int, float], ...]  # workers and value of every row
    column: str  # one of VALUES
    scaling: str  # one of laws.KINDS; it matters only for seconds
    per_node: int | None  # workers per node, if known

    def value_at(self, size: int, speedup: float) -> float:
        """Convert a speedup over the smallest size to a value in the table's unit."""
        first = self.study.sizes[0]
        cost = math.exp(self.study.costs[0]) * size / first / speedup
        if self.column == "seconds":
            return cost / (1 if self.scaling == "weak" else size)
        return size / cost


def read(file: Path, scaling: str = "strong", per_node: int | None = None) -> Table:
    """Read the table from a CSV file. `per_node` overrides the file's `nodes` column."""
    names: list[str] = []
    header = 1  # its line
    rows: list[dict[str, float]] = []
    for number, line in enumerate(lines_of(file), start=1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        try:
            cells = cells_of(text)
            if names:
                rows.append(numbers_of(cells, names))
            elif fault := header_fault(cells):
                raise ValueError(f"{fault}: the header is {shortened(','.join(cells), 60)!r}")
            else:
                names, header = cells, number
        except ValueError as problem:
            raise mistake(file, number, str(problem)) from None
    if not rows:
        lacking = "no row follows the header" if names else "the file has no header"
        raise mistake(file, header, lacking)
    [column] = set(names) & set(VALUES)
    points = [(int(row["workers"]), row[column]) for row in rows]
    if per_node is None and "nodes" in names:
        per_node = max(math.ceil(row["workers"] / row["nodes"]) for row in rows)
    return of_points(points, column, scaling, per_node, file)


def of_values(
    values: Mapping[int, Sequence[float]],
    column: str = "seconds",
    scaling: str = "strong",
    per_node: int | None = None,
) -> Table:
    """Return a table made from {workers: one value per repeat}. `column` names the values."""
    if column not in VALUES:
        raise TableError(f"The values are called {column!r}. Expected: {', '.join(VALUES)}.")
    points = [(size, float(value)) for size, repeats in values.items() for value in repeats]
    return of_points(points, column, scaling, per_node)


def of_points(
    points: Sequence[tuple[int, float]],
    column: str,
    scaling: str = "strong",
    per_node: int | None = None,
    file: Path = Path("table"),
) -> Table:
    """Return a table made from (workers, value) pairs."""
    sizes, values = zip(*points, strict=True) if points else ((), ())
    try:
        if column == "seconds":
            study = laws.of_times(sizes, values, scaling)
        else:
            study = laws.of_rates(sizes, values)
    except NotMeasured as missing:
        raise TableError(f"{file}: {missing.reason}") from None
    return Table(file, study, tuple(sorted(points)), column, scaling, per_node)


# --- a file's lines ------------------------------------------------------------------------------


def mistake(file: Path, line: int, problem: str) -> TableError:
    """Return the error for a line of the file, with the expected header."""
    return TableError(f"{file} line {line}: {problem}. {EXPECTED}")


def lines_of(file: Path) -> list[str]:
    """Return the file's lines. The file must not exceed the limit.

    The file system is not asked for the size, because it reports 0 for files in /proc.
    """
    try:
        if not file.is_file():
            raise TableError(f"{file} is not a file")
        with file.open("rb") as source:
            data = source.read(MOST_BYTES + 1)
    except OSError as error:
        raise TableError(f"{file} cannot be read: {error.strerror}") from None
    if len(data) > MOST_BYTES:
        raise TableError(f"{file} has more than {MOST_BYTES:,} bytes. Keep only the scaling table.")
    try:
        return data.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        number = data.count(b"\n", 0, error.start) + 1
        raise mistake(file, number, "this line is not UTF-8 text") from None


def cells_of(line: str) -> list[str]:
    try:
        [cells] = csv.reader([line], strict=True, skipinitialspace=True)
    except (csv.Error, ValueError):
        raise ValueError(f"this is not a CSV line: {shortened(line, 40)}") from None
    return [cell.strip() for cell in cells]


def header_fault(names: list[str]) -> str | None:
    """Return what is wrong with a header, or None.

    A header needs workers and one of VALUES, and may have nodes.
    """
    for name in names:
        if name not in COLUMNS:
            return f"unknown column {shortened(name, 40)!r}"
        if names.count(name) > 1:
            return f"the column {name} appears twice"
    if "workers" not in names:
        return "the column workers is missing"
    if len(set(names) & set(VALUES)) != 1:
        return "exactly one of seconds, samples_per_second and speedup is needed"
    return None


def numbers_of(cells: Sequence[str], names: Sequence[str]) -> dict[str, float]:
    """Return a row's numbers by column."""
    if len(cells) != len(names):
        problem = f"the header has {len(names)} columns, this line {len(cells)}"
        raise ValueError(f"{problem} (a decimal comma or a thousands separator?)")
    row = {}
    for name, text in zip(names, cells, strict=True):
        value = float(text) if NUMBER.fullmatch(text) else math.nan
        whole = name in ("workers", "nodes")
        if not 0 < value < math.inf or (whole and value != int(value)):
            kind = "a whole number above 0" if whole else "a number above 0"
            raise ValueError(f"{name} is {shortened(text, 40)!r}, not {kind}")
        row[name] = value
    if row.get("nodes", 1) > row["workers"]:
        raise ValueError("there are more nodes than workers")
    return row
