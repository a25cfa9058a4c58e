"""Text that students control, made harmless for the places where it is shown.

HTML is escaped by the templates; this is for what escaping does not catch: terminal escapes,
line breaks in names, marks that turn the reading direction, formulas in spreadsheets.
"""

from functools import lru_cache
from hashlib import blake2b

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def printable(text: object, limit: int = 200) -> str:
    """One line in which what cannot be seen stands as an escape: control characters, marks that
    turn the reading direction, zero-width ones, line ends. Cut in the middle if too long."""
    line = str(text)
    if len(line) > 4 * limit:  # do not walk through a line of 100 MB
        line = line[: 2 * limit] + "…" + line[-limit:]
    if not (line.isascii() and line.isprintable()):
        line = "".join(_visible(character) for character in line)
    if len(line) > limit:
        head = 2 * limit // 3
        line = line[:head] + " … " + line[-(limit - head - 3) :]
    return line


def _visible(character: str) -> str:
    if character.isprintable():
        return character
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def csv_cell(text: object) -> str:
    """A cell that no spreadsheet takes for a formula; numbers stay numbers."""
    if isinstance(text, int | float) and not isinstance(text, bool):
        return str(text)
    return _text_cell(str(text))


@lru_cache(10_000)  # names and checks come again and again
def _text_cell(text: str) -> str:
    line = printable(text, limit=1000)
    return "'" + line if line.lstrip().startswith(FORMULA_STARTS) else line


def file_name(text: str) -> str:
    """A name for a file of ours that stands for a student's name, unique for each name."""
    safe = "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else "_" for c in text)
    safe = safe.strip(".")[:80] or "student"
    if safe == text:
        return safe

    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    return f"{safe}-{digest}"
