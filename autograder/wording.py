"""Write numbers and lists in sentences."""

from collections.abc import Sequence


def counted(number: float, word: str) -> str:
    """Return a number and its word: 1 rank, 2 ranks."""
    return f"{number:g} {word}" if number == 1 else f"{number:g} {word}s"


def enumerated(names: Sequence[str], most: int = 8) -> str:
    """Return the first of these names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


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
