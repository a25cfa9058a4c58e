"""Find cell outputs that readers must not see because they reveal solutions.

A cell is shown as in the students' edition, with the solution's output below. Three kinds of output
would reveal a solution: the text of a program, the value of a gap's last line, and a number that a
lesson's question asks for.
"""

import ast
import difflib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from lessons.edition.gaps import find_gaps, is_marker, without_solutions

ANSWERED = "[withheld: this line answers a question of the lesson]"
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
FROM_TO = re.compile(r"--- (\d\d_\w+)/(\S+)\n\+\+\+ (\S+)\n")
TELLING_DIGITS = 3  # a shorter number occurs in too many lines by chance


def program_text(text: str, lesson: str, students: Mapping[Path, bytes]) -> str:
    """Return a printed program or diff with gaps in place of its solutions."""
    if head := FROM_TO.search(text):
        old, new = Path(head[1]) / head[2], Path(lesson) / head[3]
        if old in students and new in students:
            return text[: head.start()] + program_diff(students[old], students[new], head)
    if any(is_marker(line) for line in text.splitlines()):
        return without_solutions(text, "printed.py")
    return text


def program_diff(old: bytes, new: bytes, head: re.Match[str]) -> str:
    """Return a diff, formatted as the lessons' cells print it.

    The diff has no context lines, and leaves out the lines in gaps.
    """
    before, after = (program.decode().splitlines() for program in (old, new))
    name = f"{head[1]}/{head[2]}"
    lines = difflib.unified_diff(before, after, name, head[3], n=0, lineterm="")
    return "\n".join(line for line in lines if "NotImplementedError" not in line) + "\n"


def value_of_gap(solved: str) -> bool:
    """Return whether the value below a cell comes from the last statement of a gap."""
    gaps = find_gaps(solved, "lesson.py")
    try:
        last = ast.parse(solved).body[-1]
    except (SyntaxError, IndexError):  # a cell of %magic, or an empty one
        return False
    return any(gap.begin < last.lineno < gap.end for gap in gaps)


def expected_numbers(root: Path, lesson: str, open_text: str) -> list[float]:
    """Return the numbers that a lesson's questions ask for, except those that its text states."""
    import yaml

    file = root / "autograder" / "rubrics" / "expected" / f"{lesson}.yaml"
    if not file.is_file():
        return []
    values = yaml.safe_load(file.read_text(encoding="utf-8")).values()
    numbers = [float(one) for one in values if isinstance(one, (int, float))]
    return [
        number
        for number in numbers
        if enough_digits(f"{number:.10g}")
        and not any(answers(line, [number]) for line in open_text.splitlines())
    ]


def enough_digits(number: str) -> bool:
    return len(number.replace(".", "").lstrip("0")) >= TELLING_DIGITS


def without_answers(text: str, expected: Iterable[float]) -> str:
    expected = list(expected)
    lines = text.split("\n")
    return "\n".join(ANSWERED if answers(line, expected) else line for line in lines)


def answers(line: str, expected: list[float]) -> bool:
    for token in NUMBER.findall(line):
        digits = token.replace(",", "")
        if not enough_digits(digits):
            continue
        unit = 10.0 ** -len(digits.partition(".")[2])
        if any(abs(float(digits) - number) <= unit * 0.5001 for number in expected):
            return True
    return False


def plain(output: Any) -> str:
    """Return the text of an output of any kind."""
    return str(output.get("text", "") or output.get("data", {}).get("text/plain", ""))
