"""Settings of a class, as words for `grade`."""

from pathlib import Path
from textwrap import indent


def setting(name: str, value: object) -> tuple[str, str]:
    """Return the words that replace one field of class.yaml."""
    return "--set", f"{name}={value}"


def late_rules(folder: Path, rules: str) -> tuple[str, Path]:
    """Write a class.yaml with rules for late submissions. Return the words that name it."""
    path = folder / "late.yaml"
    path.write_text("late:\n" + indent(rules, "  "))
    return "--class", path
