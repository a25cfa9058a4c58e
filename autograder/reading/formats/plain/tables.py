"""Read tables: a line with column names, then a line of numbers per epoch or step.

epoch     train_loss  valid_loss  accuracy  time
0         0.512000    0.371000    0.884000  00:12
epoch,loss,val_loss,val_acc
"""

import re
from dataclasses import dataclass

from autograder.reading.formats.names import meaning, plainly
from autograder.reading.formats.plain.named_values import TIMES, values
from autograder.reading.formats.reader import Reader
from autograder.reading.line_facts import LineFacts
from autograder.reading.printed_numbers import VALUE

FORMAT = "table"
WIDEST, MOST_COLUMNS = 400, 30
EPOCHS, COUNTS = ("epoch", "epochs"), ("step", "steps", "iter", "iteration", "global step", "batch")
COUNT_CELL = re.compile(r"[0-9]{1,9}$")
CELL = re.compile(rf"({VALUE})\s?(%|s|ms)?$")
TIME_CELL = re.compile(rf"(?:(?:\d{{1,4}}:)?\d{{1,2}}:\d{{2}}(?:\.\d{{1,9}})?|{CELL.pattern})$")
SEPARATORS = (",", "|", "│", "\t", ";")


@dataclass(frozen=True, slots=True)
class Table:
    """The columns of a table, and how to split its rows."""

    separator: str | None  # None: blanks
    names: tuple[str, ...]
    of_steps: bool


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
    if index is None or not any(map(meaning, names)) or len(names) > MOST_COLUMNS:
        return None
    return Table(separator, names, index not in EPOCHS)


def row(table: Table, line: str) -> LineFacts | None:
    """Return the facts of a table's row, or None if the line is not a row."""
    if len(line) > WIDEST or not any(character.isdigit() for character in line):
        return None
    cells = [cell.strip() for cell in line.strip(" |│").split(table.separator)]
    if len(cells) != len(table.names):
        return None
    counts, pairs = [], []
    for name, cell in zip(table.names, cells, strict=True):
        if name in EPOCHS or name in COUNTS:
            if not COUNT_CELL.match(cell):
                return None
            counts.append(int(cell))
        elif name in TIMES or meaning(name):
            if not (TIME_CELL if name in TIMES else CELL).match(cell):
                return None
            pairs.append(f"{name}: {cell}")
    # If `accuracy` names no data set, it takes that of the column before: usually validation.
    named = values(" | ".join(pairs), 0)
    if table.of_steps:
        named.numbers.pop("seconds", None)
        return named.facts(1, step=counts[0], rates=True)
    return named.facts(counts[0])


# A single line is not a table. The module printed_lines reads the rows below a heading.
READER = Reader(FORMAT, (), lambda line: None)
