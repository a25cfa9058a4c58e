"""Say which test files `-m` can choose a test from, so that the others need not be imported.

Importing all of them takes half of the time that `make test-rest` needs before its first test.
"""

import re
from collections.abc import Set
from itertools import combinations
from pathlib import Path

import pytest
from _pytest.mark.expression import Expression

# The file and the marks of each collected test, before `-m` chooses among them.
COLLECTED = pytest.StashKey[list[tuple[Path, frozenset[str]]]]()

OF_THE_FILE = re.compile(r"^pytestmark = .*$", re.MULTILINE)
MARK = re.compile(r"\bmark\.(\w+)")


def can_choose(expression: str, text: str) -> bool:
    """Return whether `-m EXPRESSION` may choose a test of a file with this text.

    A test gets its marks in its own file, by name or through `tests/breadth.py`. Marks in
    `pytestmark` belong to all tests of the file.
    """
    if not expression:
        return True
    always = set(MARK.findall(" ".join(OF_THE_FILE.findall(text))))
    some = {*MARK.findall(text), *(["slow"] if re.search(r"\bbreadth\b", text) else [])}
    maybe = sorted(some.intersection(re.findall(r"\w+", expression)) - always)
    return any(
        chooses(expression, always.union(these))
        for count in range(len(maybe) + 1)
        for these in combinations(maybe, count)
    )


def chooses(expression: str, marks: Set[str]) -> bool:
    """Return whether `-m EXPRESSION` chooses a test with these marks."""
    return Expression.compile(expression).evaluate(lambda name, /, **_: name in marks)
