"""A file with a table → names of columns and rows of text, with , ; | or a tab between."""

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.safe_text import shortened
from cluster.foretell.errors import TableError

MOST_BYTES, MOST_ROWS = 2_000_000, 10_000
FIRST_NUMBER = re.compile(r"\W*\d")  # so a line before it that begins with # has the names
RULE = re.compile(r"[|\s:-]+")  # the line under the header of a table in Markdown


@dataclass(frozen=True, slots=True)
class Row:
    line: int
    cells: dict[str, str]


def read(file: Path) -> tuple[list[str], list[Row]]:
    try:
        if not file.is_file():
            raise TableError(f"{file} is not a file")
        with file.open("rb") as source:
            data = source.read(MOST_BYTES + 1)
        text = data.decode("utf-8-sig")
    except OSError as error:
        raise TableError(f"{file} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise TableError(f"{file} is no text in UTF-8: save the table as CSV") from None
    if len(data) > MOST_BYTES:
        raise TableError(f"{file} is larger than {MOST_BYTES:,} bytes: that is no scaling table")
    if "\0" in text:
        raise TableError(f"{file} is no text: save the table as CSV")
    return parsed(file, text)


def parsed(file: Path, text: str) -> tuple[list[str], list[Row]]:
    lines = [
        (number, line.strip("\r\n"))
        for number, line in enumerate(text.split("\n"), start=1)
        if line.strip() and not RULE.fullmatch(line.strip())
    ]
    names_first = len(lines) > 1 and FIRST_NUMBER.match(lines[1][1]) and "#" in lines[0][1][:1]
    lines = [
        (number, line)
        for place, (number, line) in enumerate(lines)
        if not line.lstrip().startswith("#") or (place == 0 and names_first)
    ]
    if not lines:
        raise TableError(f"{file} is empty")
    if len(lines) > MOST_ROWS:
        raise TableError(f"{file} has more than {MOST_ROWS:,} rows: that is no scaling table")
    between = next((sign for sign in "\t;|" if sign in lines[0][1]), ",")
    names = [name.strip() for name in split(lines[0][1], between, file, lines[0][0])]
    if len(set(names)) < len(names) or len(names) < 2:
        raise TableError(
            f"{file}, line {lines[0][0]}: the first line has to name two columns or more, each once"
        )
    rows = []
    for number, line in lines[1:]:
        cells = [cell.strip() for cell in split(line, between, file, number)]
        if len(cells) != len(names):
            raise TableError(
                f"{file}, line {number}: {len(cells)} cells under {len(names)} names of columns"
                + ("; put a number with commas in quotes" if between == "," else "")
            )
        rows.append(Row(number, dict(zip(names, cells, strict=True))))
    if not rows:
        raise TableError(f"{file} has names of columns and no row")
    return names, rows


def split(line: str, between: str, file: Path, number: int) -> Sequence[str]:
    if between == "|":
        return line.strip().strip("|").split("|")
    try:
        [cells] = csv.reader([line], delimiter=between, strict=True, skipinitialspace=True)
    except (csv.Error, ValueError):
        start = shortened(line, 40)
        raise TableError(f"{file}, line {number} is no row of a table: {start}") from None
    return cells
