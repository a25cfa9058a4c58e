"""Say which test files `-m` can choose a test from, so that the others need not be imported.

Importing all of them takes half of the time that `make test-rest` needs before its first test.
"""

import re
from pathlib import Path

import pytest
from _pytest.mark.expression import Expression

# The file and the marks of each collected test, before `-m` chooses among them.
COLLECTED = pytest.StashKey[list[tuple[Path, set[str]]]]()


def can_choose(expression: str, text: str) -> bool:
    """Return whether `-m EXPRESSION` may choose a test of a file with this text.

    A test gets its marks in its own file, by name or through `tests/breadth.py`.
    """
    if not expression or Expression.compile(expression).evaluate(has_no_marks):
        return True
    names = "|".join(re.findall(r"\w+", expression))
    return re.search(rf"\bmark\.({names})\b|\bbreadth\b", text) is not None


def has_no_marks(name: str, /, **_: object) -> bool:
    return False
