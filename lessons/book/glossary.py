"""Make the book's glossary from docs/glossary.md, so that search and links know its terms."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

# - **all names, with commas** (number of the lesson that explains it, if any): definition
TERM = re.compile(r"^- \*\*(.+?)\*\*(?: \((\d\d)\))?: (.+(?:\n  .+)*)", re.MULTILINE)
SECTION = re.compile(r"^(?=## )", re.MULTILINE)


@dataclass(frozen=True)
class Term:
    names: tuple[str, ...]
    lesson: str | None
    text: str


def terms(text: str) -> list[Term]:
    """Return the terms of a glossary in the order of the page."""
    return [
        Term(tuple(found[1].split(", ")), found[2], " ".join(found[3].split()))
        for found in TERM.finditer(text)
    ]


def glossary_page(text: str, lessons: Mapping[str, str]) -> str:
    """Return the page with each section's list as a glossary directive.

    `lessons` maps a lesson's number to its page, as seen from docs/.
    """
    return "\n".join(glossary_section(section, lessons) for section in SECTION.split(text))


def glossary_section(text: str, lessons: Mapping[str, str]) -> str:
    first = TERM.search(text)
    if first is None:
        return text
    entries = []
    for term in terms(text):
        where = lessons.get(term.lesson or "")
        link = f" [Lesson {term.lesson}]({where})" if where else ""
        entries.append("\n".join([*term.names, f"  {term.text}{link}", ""]))
    return "\n".join([text[: first.start()].rstrip(), "", ":::{glossary}", *entries, ":::", ""])
