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
KINDS = {"-": "released, gone", "+": "new, outside the gaps", "gap": "in a gap", "own": "own"}


def write(out: Path, page: str, name: str, grades: Sequence[Grade], heading: str) -> None:
    """Write both files, or neither if there is nothing to show. `page` names the student's page."""
    with_programs = [grade for grade in grades if grade.programs]
    facts = {"heading": heading, "kinds": KINDS, "zip_longest": zip_longest}
    for suffix in (".html", ".txt"):
        path = (out / PROGRAMS / page).with_suffix(suffix)
        if with_programs:
            template = f"programs{suffix}.j2"
            write_if_new(path, render(template, student=name, grades=with_programs, **facts))
        else:
            path.unlink(missing_ok=True)  # of an earlier submission
