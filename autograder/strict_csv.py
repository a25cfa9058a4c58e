"""Read the roster and the instructor's other CSV tables: rows with their place in the file.

A typo must not change a grade silently. A misspelt column (except in a roster), a comma without
quotes or an unclosed quotation mark is an error that names the line.
"""

import csv
import io
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from autograder.errors import SettingsError
from autograder.safe_text import shortened
from autograder.wording import counted

CsvRow = tuple[str, dict[str, str]]  # file:line, and the cells by column name


def read_csv(
    path: Path | None, needed: Sequence[str], optional: Collection[str] | None = None
) -> Iterator[CsvRow]:
    """Yield the rows. Columns may be in any order, in upper or lower case.

    The columns in `needed` are required, and so are their cells. If `optional` is given, a column
    that is in neither of them is an error.
    """
    if path is None:
        return
    lines = _lines(path)
    where, cells = next(lines, (f"{path}:1", []))
    header = [name.casefold() for name in cells]
    known = [*needed, *(optional or ())]
    for name in header:
        if optional is not None and name not in known:
            raise SettingsError(
                f"{where}: unknown column `{shortened(name)}`; known are {', '.join(known)}"
            )
        if name in known and header.count(name) > 1:
            raise SettingsError(f"{where}: the column `{name}` appears twice")
    if missing := [name for name in needed if name not in header]:
        columns = shortened(", ".join(header)) or "nothing"
        raise SettingsError(f"{where}: there is no column `{missing[0]}`; found: {columns}")
    for where, cells in lines:
        if len(cells) > len(header):
            raise SettingsError(
                f"{where}: {counted(len(cells), 'cell')} where the header has {len(header)}; "
                "a cell with a comma needs quotes"
            )
        row = dict.fromkeys(header, "") | dict(zip(header, cells, strict=False))
        if missing := [name for name in needed if not row[name]]:
            raise SettingsError(f"{where}: `{missing[0]}` is empty")
        yield where, row


def _lines(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the cells of each non-empty line, without trailing empty cells."""
    text = unicodedata.normalize("NFC", read_text(path))  # é is one character
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator(text), strict=True)
    begin = 1  # a quoted cell may continue on the next line
    try:
        for cells in reader:
            line = [" ".join(cell.splitlines()).strip() for cell in cells]
            while line and not line[-1]:
                line.pop()
            if line:
                yield f"{path}:{begin}", line
            begin = reader.line_num + 1
    except csv.Error:
        mark = 'a quotation mark is open or has text after it; write "" for " in a cell'
        raise SettingsError(f"{path}:{begin}: {mark}") from None


def separator(text: str) -> str:
    """Return the cell separator: `;` in spreadsheets with a decimal comma."""
    header = text.split("\n", 1)[0]
    return max(",;\t", key=header.count)


def read_text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise SettingsError(f"{path}: is not UTF-8: save it as CSV UTF-8") from None
