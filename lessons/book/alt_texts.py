"""Provide alt texts for pictures, from the docstrings of the functions that drew them."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PLOTS = Path(__file__).parents[1] / "toolkit" / "plots"
UNKNOWN = "What this cell draws"


def alt_text(code: str) -> str:
    """Return the docstrings of the `plots` functions that a cell calls, in the order of calls."""
    known = docstrings()
    drawn = [known[name] for name in dict.fromkeys(called(code)) if known.get(name)]
    return " ".join(drawn) or UNKNOWN


@cache
def docstrings() -> dict[str, str]:
    """Return the first paragraph of each plotting function's docstring.

    The files are parsed, not imported, so building the book needs no plotting library.
    """
    return {
        part.name: describe(ast.get_docstring(part) or "")
        for file in sorted(PLOTS.rglob("*.py"))
        for part in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(part, ast.FunctionDef) and draws(part)
    }


def draws(function: ast.FunctionDef) -> bool:
    """Return whether a function draws a picture instead of only preparing data."""
    return [one.arg for one in function.args.args[:1]] == ["figure"]


def called(code: str) -> Iterator[str]:
    """Yield the names in `plots.NAME(…)` calls, in the order of the source."""
    try:
        parts = list(ast.walk(ast.parse(code)))
    except SyntaxError:  # a cell with %magic
        return
    calls = [part.func for part in parts if isinstance(part, ast.Call)]
    for one in sorted((c for c in calls if isinstance(c, ast.Attribute)), key=lambda c: c.lineno):
        if isinstance(one.value, ast.Name) and one.value.id == "plots":
            yield one.attr


def describe(docstring: str) -> str:
    """Return what the first paragraph says about the picture, without its verb."""
    paragraph = " ".join(docstring.partition("\n\n")[0].replace("`", "").split())
    picture = re.sub("^(?:Plot|Show|Draw) ", "", paragraph)
    return picture[:1].upper() + picture[1:]
