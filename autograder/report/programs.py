"""Write a page for the instructor alone, with every line that a student changed in the programs.

A page and a text file go to a folder of their own, so that they are not given to students.
"""

from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path

from autograder.classroom.kept import PROGRAMS
from autograder.report.html import environment
from autograder.verdict import ChangedLine, Grade
from autograder.wording import counted
from autograder.writing import write_if_new

SUFFIXES = (".html", ".txt")
KINDS = {"-": "released, gone", "+": "new, outside the gaps", "gap": "in a gap", "own": "own"}


def write(out: Path, page: str, name: str, grades: Sequence[Grade], heading: str) -> None:
    """Write both files, or neither if there is nothing to show. `page` names the student's page."""
    with_programs = [grade for grade in grades if grade.programs]
    if not with_programs:
        remove(out, page)
        return
    template = environment().get_template("programs.html.j2")
    html = template.render(
        heading=heading,
        student=name,
        grades=with_programs,
        kinds=KINDS,
        more=more,
        zip_longest=zip_longest,
    )
    for path, text in zip(files(out, page), (html, as_text(name, with_programs)), strict=True):
        write_if_new(path, text)


def files(out: Path, page: str) -> list[Path]:
    return [(out / PROGRAMS / page).with_suffix(suffix) for suffix in SUFFIXES]


def remove(out: Path, page: str) -> None:
    """Remove the files of an earlier submission."""
    for path in files(out, page):
        path.unlink(missing_ok=True)


def as_text(name: str, grades: Sequence[Grade]) -> str:
    """Return the changes as text. A `!` marks the lines to look at."""
    lines = [name]
    for grade in grades:
        for text in grade.programs:
            lines += ["", f"lesson {grade.lesson}, {text.file}: {text.said}"]
            lines += [as_line(line) for line in text.lines]
            lines += [more(text.left_out)] if text.left_out else []
            for gap in text.gaps:
                lines += ["  in a gap:", *map(as_line, gap.lines)]
                lines += ["  the solution:", *(f"            {line}" for line in gap.solution)]
    return "\n".join(lines) + "\n"


def as_line(line: ChangedLine) -> str:
    unusual = f"   ({line.unusual})" if line.unusual else ""
    return f"{'!' if line.telling else ' '} {line.number:5} {line.kind:3} {line.text}{unusual}"


def more(left_out: int) -> str:
    return f"… and {counted(left_out, 'line')} more"
