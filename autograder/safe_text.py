"""Text that students control, made harmless where it leaves the grader.

It is read and judged as it is. A grade's texts are made printable once, when the grade is done
(printable_record), and so is what an error says; HTML is escaped by the templates besides. What
escaping alone does not catch is handled here: terminal escapes, line breaks in names, marks that
turn the reading direction, formulas in spreadsheets.
"""

import re
from dataclasses import fields, is_dataclass, replace
from functools import cache, lru_cache
from hashlib import blake2b
from typing import Any

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
NUMBERS = frozenset((int, float, bool))
LONGEST = 20_000  # characters of a text in a grade: a bound for floods, not a form


def shortened(text: object, limit: int = 200) -> str:
    """A long text cut in its middle."""
    line = str(text)
    if len(line) <= limit:
        return line
    head = 2 * limit // 3
    return line[:head] + " … " + line[-(limit - head - 3) :]


def printable(text: object, limit: int = 200) -> str:
    """One line in which what cannot be seen stands as an escape: control characters, marks that
    turn the reading direction, zero-width ones, line ends. Cut in the middle if too long."""
    line = str(text)
    if len(line) > 4 * limit:  # do not walk through a line of 100 MB
        line = line[: 2 * limit] + "…" + line[-limit:]
    if not (line.isascii() and line.isprintable()):
        line = "".join(_visible(character) for character in line)
    return shortened(line, limit)


def readable_name(name: object, limit: int = 200) -> str:
    """A person's name: printable, but with the joiners without which Persian, many scripts of India
    and some emoji are spelt wrongly. Only between two characters that are not ASCII."""
    line = printable(name, limit)
    return JOINED.sub(lambda found: chr(int(found[1], 16)), line)


JOINED = re.compile(r"(?<=[^\x00-\x7f])\\u(200[cd])(?=[^\x00-\x7f])")


def printable_record(value: Any) -> Any:
    """A record, and all records within it, with every text printable."""
    kind = value.__class__
    if kind is str:
        return value if value.isascii() and value.isprintable() else printable(value, LONGEST)
    if kind is tuple:
        return tuple(map(printable_record, value)) if value else value
    changed = {}
    for name in _members(kind):
        before = getattr(value, name)
        if before is None or before.__class__ in NUMBERS:  # most members: worth a step of its own
            continue
        after = printable_record(before)
        if after is not before and after != before:
            changed[name] = after
    return replace(value, **changed) if changed else value


@cache
def _members(kind: type) -> tuple[str, ...]:
    """The names of a record's members; of what is no record, none."""
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else ()


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
