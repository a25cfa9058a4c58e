"""Format numbers, lists and advice for use in sentences."""

from collections.abc import Sequence


def counted(number: float, word: str) -> str:
    """Return a number with its noun in the singular or plural: 1 rank, 2 ranks."""
    return f"{number:g} {word}" if number == 1 else f"{number:g} {word}s"


def enumerated(names: Sequence[str], most: int = 8) -> str:
    """Return the first few names as text, and how many more there are.

    Names like `Lovelace, Ada` are separated by semicolons.
    """
    more = f" and {len(names) - most} more" if len(names) > most else ""
    separator = "; " if any("," in name for name in names[:most]) else ", "
    return separator.join(names[:most]) + more


def shown(value: float) -> str:
    """Return a number formatted for people: 407,050 or 0.9612 or 2.1e-07."""
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def with_unit(value: float, unit: str) -> str:
    """Return a number and its unit: 2 ranks, 1 rank, 3.2 s."""
    if value == 1 and unit.endswith("sses"):  # losses, classes
        unit = unit.removesuffix("es")
    elif value == 1 and len(unit) > 3 and unit.isalpha() and not unit.endswith("ss"):
        unit = unit.removesuffix("s")  # but keep the s of ms and ns
    return f"{shown(value)} {unit}".rstrip()


def sentence(text: str) -> str:
    """Return the text with a capital letter, unless it begins with a name like `answers.txt`."""
    first = text.split(maxsplit=1)[0] if text.split() else ""
    named = any(sign in first for sign in "._=")
    return text[:1].upper() + text[1:] if text[:2].islower() and not named else text
