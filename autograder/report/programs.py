"""Make a page for the instructor alone, with every line that a student changed in the programs.

A page and a text file go to a folder of their own, so that they are not given to students.
"""

from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path

from autograder.report.rendering import render
from autograder.verdict import Grade

PROGRAMS = "programs"  # the folder
KINDS = {"-": "released, gone", "+": "new, outside the gaps", "gap": "in a gap", "own": "own"}


def files(page: str, name: str, grades: Sequence[Grade], heading: str) -> dict[str, str | None]:
    """Return both files, or None for each if there is nothing to show.

    `page` names the student's page.
    """
    with_programs = [grade for grade in grades if grade.programs]
    facts = {"heading": heading, "kinds": KINDS, "zip_longest": zip_longest}
    made = {}
    for suffix in (".html", ".txt"):
        path, template = Path(PROGRAMS, page).with_suffix(suffix), f"programs{suffix}.j2"
        made[str(path)] = (
            render(template, student=name, grades=with_programs, **facts) if with_programs else None
        )
    return made
