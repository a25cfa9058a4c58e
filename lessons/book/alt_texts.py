"""Provide alt texts for pictures, from the docstrings of the functions that drew them."""

import ast
import re
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
        if isinstance(part, ast.FunctionDef)
        and [each.arg for each in part.args.args[:1]] == ["figure"]  # it draws
    }


def called(code: str) -> list[str]:
    """Return the names in `plots.NAME(…)` calls, in the order of the source."""
    return re.findall(r"\bplots\.(\w+)\(", code)


def describe(docstring: str) -> str:
    """Return what the first paragraph says about the picture, without its verb."""
    paragraph = " ".join(docstring.partition("\n\n")[0].replace("`", "").split())
    picture = re.sub("^(?:Plot|Show|Draw) ", "", paragraph)
    return picture[:1].upper() + picture[1:]
