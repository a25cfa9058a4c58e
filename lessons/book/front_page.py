"""Write the first page and the contents: every lesson, and every page of docs/ by its kind."""

import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

TEMPLATE = Path(__file__).with_name("front.md")

# The four kinds of page, with the pages of docs/ in each. docs/README.md has the same groups. A
# page in no group is added to the last one, so no new page is lost.
GROUPS = {
    "Tutorials": ("for-students", "first-class", "own-course"),
    "How-to guides": (
        *("install", "install-cluster", "ondemand"),
        *("teaching", "teaching-notes", "private-course", "term"),
        *("rerun", "writing-a-lesson"),
        *("sites", "horovod", "box"),
    ),
    "Reference": (
        *("README", "glossary"),
        *("grading", "rubrics", "formats-read", "run-record"),
        *("jobs", "support", "privacy"),
    ),
    "Explanation": (*("evidence", "rerun-limits", "architecture"),),
}
SHORT = {"for-students": "A student's first hour"}  # its own title is the course's


def front_page(lessons: Mapping[str, Any], docs: Collection[str], more: Collection[str]) -> str:
    """Return the first page.

    `lessons` maps each lesson's folder to its notebook. `docs` has the names of the pages in docs/,
    `more` those of further pages.
    """
    text = TEMPLATE.read_text(encoding="utf-8")
    text = text.replace("@LESSONS@", lessons_table(lessons))
    return text.replace("@CONTENTS@", contents(lessons, docs, more))


def lessons_table(lessons: Mapping[str, Any]) -> str:
    rows = ["| lesson | question |", "|---|---|"]
    for folder, page in lessons.items():
        title, question = title_and_question(page)
        rows.append(f"| [{title}](lessons/{folder}/lesson.ipynb) | {question} |")
    return "\n".join(rows)


def title_and_question(page: Any) -> tuple[str, str]:
    """Return the heading of the first cell and the line in bold below it."""
    text = page.cells[0].source
    title = text.partition("\n")[0].removeprefix("# ")
    question = re.search(r"^\*\*(.+?)\*\*$", text, re.MULTILINE | re.DOTALL)
    return title, " ".join(question[1].split()) if question else ""


def contents(lessons: Collection[str], docs: Collection[str], more: Collection[str]) -> str:
    trees = [tree("Lessons", [f"lessons/{folder}/lesson" for folder in lessons])]
    left = sorted(set(docs) - {name for names in GROUPS.values() for name in names})
    for caption, names in GROUPS.items():
        pages = [entry(name) for name in names if name in docs]
        if caption == list(GROUPS)[-1]:
            pages += [*map(entry, left), *(f"{Path(page).parent} <{page}>" for page in more)]
        trees.append(tree(caption, pages))
    return "\n\n".join(trees)


def entry(name: str) -> str:
    return f"{SHORT[name]} <docs/{name}>" if name in SHORT else f"docs/{name}"


def tree(caption: str, pages: list[str]) -> str:
    lines = ["```{toctree}", ":hidden:", f":caption: {caption}", "", *pages, "```"]
    return "\n".join(lines) if pages else ""
