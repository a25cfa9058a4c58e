"""Read tables: a line with column names, then a line of numbers per epoch or step.

epoch     train_loss  valid_loss  accuracy  time
0         0.512000    0.371000    0.884000  00:12
epoch,loss,val_loss,val_acc
"""

import re
from dataclasses import dataclass

from autograder.reading.formats.plain.named_values import (
    NAMES,
    TIMES,
    Kind,
    Named,
    On,
    duration,
    of_either,
    plainly,
)
from autograder.reading.formats.reader import Reader
from autograder.reading.line_facts import LineFacts
from autograder.reading.printed_numbers import VALUE

FORMAT = "table"
WIDEST, MOST_COLUMNS = 400, 30
EPOCHS, COUNTS = ("epoch", "epochs"), ("step", "steps", "iter", "iteration", "global step", "batch")
CELL = re.compile(rf"({VALUE})\s?(%|s|ms)?$")
CLOCK_CELL = re.compile(r"(?:\d{1,4}:)?\d{1,2}:\d{2}(?:\.\d{1,9})?$")
SEPARATORS = (",", "|", "│", "\t", ";")


@dataclass(frozen=True, slots=True)
class Table:
    """The columns of a table, and how to split its rows."""

    separator: str | None  # None: blanks
    names: tuple[str, ...]
    of_steps: bool
    said: set[tuple[Kind, On | None]]  # kinds and data sets in the column names


def head(line: str) -> Table | None:
    """Return the columns that a line names, if it contains nothing else."""
    if len(line) > WIDEST or any(mark in line for mark in ":={}()"):
        return None
    separator = next((mark for mark in SEPARATORS if mark in line), None)
    cells = line.strip(" |│").split(separator) if separator else re.split(r"\s{2,20}", line.strip())
    if separator is None and len(cells) < 2:
        cells = line.split()
    names = tuple(plainly(cell.strip(" #'\"")) for cell in cells)
    index = next((name for name in names if name in (*EPOCHS, *COUNTS)), None)
    recognised = sum(name in NAMES for name in names)
    if index is None or not recognised or len(names) > MOST_COLUMNS:
        return None
    kinds = {NAMES[name] for name in names if name in NAMES}
    return Table(separator, names, index not in EPOCHS, kinds)


def row(table: Table, line: str) -> LineFacts | None:
    """Return the facts of a table's row, or None if the line is not a row."""
    if len(line) > WIDEST or not any(character.isdigit() for character in line):
        return None
    cells = [cell.strip() for cell in line.strip(" |│").split(table.separator)]
    if len(cells) != len(table.names):
        return None
    at: int | None = None
    named = Named()
    for name, cell in zip(table.names, cells, strict=True):
        if name in EPOCHS or name in COUNTS:
            if not (cell.isascii() and cell.isdigit() and len(cell) < 10):
                return None
            at = int(cell) if at is None else at
        elif name in TIMES and CLOCK_CELL.match(cell):
            named.numbers.setdefault("seconds", duration(cell, 0, "", ""))
        elif name in TIMES or name in NAMES:
            match = CELL.match(cell)
            if match is None:
                return None
            text, unit = match[1], match[2] or ""
            if name in TIMES:
                named.numbers.setdefault("seconds", duration(text, 0, text, unit))
                continue
            kind, on = NAMES[name]
            if on is None and of_either(kind, table.said):
                on = "val"  # fastai's and Hugging Face's tables have only the loss for both
            named.add(kind, on or "train", text, unit)
    if at is None:
        return None
    if table.of_steps:
        named.numbers.pop("seconds", None)
        return named.facts(1, step=at, rates=True)
    return named.facts(at)


# A single line is not a table. The module printed_lines reads the rows below a heading.
READER = Reader(FORMAT, (), lambda line: None)
