"""docs/glossary.md as a glossary of the book, whose terms the search knows and links lead to."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

# - **all of its names, with commas** (the lesson that explains it): what it is
TERM = re.compile(r"^- \*\*(.+?)\*\* \((\d\d)\): (.+(?:\n  .+)*)", re.MULTILINE)


@dataclass(frozen=True)
class Term:
    names: tuple[str, ...]
    lesson: str
    text: str


def terms(text: str) -> list[Term]:
    return [
        Term(tuple(found[1].split(", ")), found[2], " ".join(found[3].split()))
        for found in TERM.finditer(text)
    ]


def glossary_page(text: str, lessons: Mapping[str, str]) -> str:
    """`lessons` is number -> where its page lies, seen from docs/."""
    entries = []
    for term in terms(text):
        where = lessons.get(term.lesson)
        link = f" [Lesson {term.lesson}]({where})" if where else ""
        entries.append("\n".join([*term.names, f"  {term.text}{link}", ""]))
    first = TERM.search(text)
    head = text[: first.start()].rstrip() if first else text
    return "\n".join([head, "", ":::{glossary}", *entries, ":::", ""])
