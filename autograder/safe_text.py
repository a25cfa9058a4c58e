"""Make students' text harmless before it leaves the grader.

Text is read and judged unchanged. A grade's texts are made printable once, when the grade is
complete (printable_record), and so is the text of an error. Templates also escape HTML. This module
handles what escaping does not: terminal escapes, line breaks in names, characters that change the
reading direction, formulas in spreadsheets.
"""

import re
from dataclasses import fields, is_dataclass, replace
from hashlib import blake2b
from typing import Any

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
LONGEST = 20_000  # maximum characters of one text in a grade
# Zero-width joiners, which Persian, many Indian scripts and some emoji need
JOINED = re.compile(r"(?<=[^\x00-\x7f])\\u(200[cd])(?=[^\x00-\x7f])")


def shortened(text: object, limit: int = 200) -> str:
    """Return the text, shortened in the middle if it is long."""
    line = str(text)
    if len(line) <= limit:
        return line
    head = 2 * limit // 3
    return line[:head] + " … " + line[-(limit - head - 3) :]


def printable(text: object, limit: int = 200) -> str:
    """Return the text as one line, with invisible characters escaped and a long text shortened.

    These are control characters, zero-width characters, line ends, and characters that change the
    reading direction. A joiner is kept between two non-ASCII characters.
    """
    line = shortened(text, 4 * limit)  # do not process a line of 100 MB
    if not line.isprintable():
        line = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in line)
        line = JOINED.sub(lambda escape: chr(int(escape[1], 16)), line)
    return shortened(line, limit)


def printable_record(value: Any) -> Any:
    """Return a record, and all records in it, with every string made printable."""
    if isinstance(value, str):
        return value if value.isprintable() else printable(value, LONGEST)
    if isinstance(value, tuple):
        return tuple(map(printable_record, value))
    if not is_dataclass(value) or isinstance(value, type):
        return value
    members = {field.name: printable_record(getattr(value, field.name)) for field in fields(value)}
    return replace(value, **members)


def csv_cell(text: object, limit: int = 1000) -> str:
    """Return the text as a cell that no spreadsheet reads as a formula. Numbers stay numbers."""
    if text.__class__ in (int, float):
        return str(text)
    line = printable(text, limit)
    return "'" + line if line.lstrip().startswith(FORMULA_STARTS) else line


def file_name(text: str) -> str:
    """Return a unique file name for a student's name."""
    safe = "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else "_" for c in text)
    safe = safe.strip(".")[:80] or "student"
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    return safe if safe == text else f"{safe}-{digest}"
