"""Read the roster and the instructor's other CSV tables: rows with their place in the file.

A typo must not change a grade silently. A misspelt column, a comma without quotes or an unclosed
quotation mark is an error that names the line.
"""

import csv
import difflib
import io
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from autograder.errors import SettingsError
from autograder.safe_text import shortened
from autograder.wording import counted

CsvRow = tuple[str, dict[str, str]]  # file:line, and the cells by column name


def read_csv(
    path: Path | None,
    needed: Sequence[str],
    optional: Collection[str] | None = None,
    empty: Collection[str] = (),
) -> Iterator[CsvRow]:
    """Yield the rows. Columns may be in any order, in upper or lower case.

    The columns in `needed` are required. Their cells must not be empty, unless the column is also
    in `empty`. If `optional` is given, a column that is in neither `needed` nor `optional` is an
    error.
    """
    if path is None:
        return
    lines = _lines(path)
    where, cells = next(lines, (f"{path}:1", []))
    header = [name.casefold() for name in cells]
    _check_header(where, header, needed, optional)
    for where, cells in lines:
        if len(cells) > len(header):
            raise SettingsError(
                f"{where}: {counted(len(cells), 'cell')} where the header has {len(header)}; "
                "a cell with a comma needs quotes"
            )
        row = dict(zip(header, cells + [""] * (len(header) - len(cells)), strict=True))
        for name in needed:
            if not row.get(name) and name not in empty:
                raise SettingsError(f"{where}: `{name}` is empty")
        yield where, row


def _check_header(
    where: str, header: list[str], needed: Sequence[str], optional: Collection[str] | None
) -> None:
    known = [*needed, *(optional or ())]
    for number, name in enumerate(header if optional is not None else (), start=1):
        if not name:
            raise SettingsError(f"{where}: column {number} has no name; remove it")
        if name not in known:
            near = difflib.get_close_matches(name, [n for n in known if n not in header], 1)
            what = f"did you mean `{near[0]}`?" if near else f"known are {', '.join(known)}"
            raise SettingsError(f"{where}: there is no column `{shortened(name)}` here; {what}")
    for name in needed:
        if name not in header:
            found = shortened(", ".join(header)) or "nothing"
            raise SettingsError(f"{where}: there is no column `{name}`; found: {found}")
    for name in known:
        if header.count(name) > 1:
            raise SettingsError(f"{where}: the column `{name}` appears twice")


def _lines(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the cells of each non-empty line, without trailing empty cells."""
    text = read_text(path)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator(text), strict=True)
    begin = 1  # a quoted cell may continue on the next line
    try:
        for texts in reader:
            cells = [_cell(text) for text in texts]
            while cells and not cells[-1]:
                cells.pop()
            if cells:
                yield f"{path}:{begin}", cells
            begin = reader.line_num + 1
    except csv.Error:
        raise SettingsError(
            f"{path}:{begin}: a quotation mark is open or has text after it; write "
            '"" for " in a cell'
        ) from None


def _cell(text: str) -> str:
    """Return the text on one line, with letters such as é as single characters (NFC)."""
    return unicodedata.normalize("NFC", " ".join(text.split("\n")).replace("\r", "").strip())


def separator(text: str) -> str:
    """Return the cell separator.

    Spreadsheets separate cells with `;` where the decimal separator is a comma.
    """
    header = text.split("\n", 1)[0]
    return max(",;\t", key=header.count)


def read_text(path: Path) -> str:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:  # UTF-16 text is full of NULs
        raise SettingsError(f"{path}: is not UTF-8: save it as CSV UTF-8")
    return text
