"""Write a page for the instructor alone, with every line that a student changed in the programs.

A page and a text file go to a folder of their own, so that they are not given to students.
"""

from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path

from autograder.report.rendering import render
from autograder.verdict import Grade
from autograder.writing import write_if_new

PROGRAMS = "programs"  # the folder
SUFFIXES = (".html", ".txt")
KINDS = {"-": "released, gone", "+": "new, outside the gaps", "gap": "in a gap", "own": "own"}


def write(out: Path, page: str, name: str, grades: Sequence[Grade], heading: str) -> None:
    """Write both files, or neither if there is nothing to show. `page` names the student's page.

    In the text, a `!` marks the lines to look at.
    """
    with_programs = [grade for grade in grades if grade.programs]
    if not with_programs:
        remove(out, page)
        return
    html, text = files(out, page)
    facts = {"student": name, "grades": with_programs}
    shown = {"heading": heading, "kinds": KINDS, "zip_longest": zip_longest}
    write_if_new(html, render("programs.html.j2", **facts, **shown))
    write_if_new(text, render("programs.txt.j2", **facts))


def files(out: Path, page: str) -> list[Path]:
    return [(out / PROGRAMS / page).with_suffix(suffix) for suffix in SUFFIXES]


def remove(out: Path, page: str) -> None:
    """Remove the files of an earlier submission."""
    for path in files(out, page):
        path.unlink(missing_ok=True)
