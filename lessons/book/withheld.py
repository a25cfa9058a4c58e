"""Find cell outputs that readers must not see because they reveal solutions.

A cell is shown as in the students' edition, with the solution's output below. Three kinds of output
would reveal a solution: the text of a program, the value of a gap's last line, and a number that a
lesson's question asks for.
"""

import ast
import re
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Any

from lessons.edition.gaps import find_gaps, is_marker, without_solutions

ANSWERED = "[withheld: this line answers a question of the lesson]"
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
DIFF = re.compile(r"^--- \d\d_\w+/\S+\n\+\+\+ ", re.MULTILINE)
TELLING_DIGITS = 3  # a shorter number occurs in too many lines by chance


def rewriter(open_lines: Collection[str], expected: list[float]) -> Callable[[str], str]:
    """Return a function that takes solutions and expected answers out of a printed text."""
    return lambda text: without_answers(program_text(text, open_lines), expected)


def program_text(text: str, open_lines: Collection[str]) -> str:
    """Return a printed program with gaps in place of its solutions.

    Of a printed diff, the `open_lines` stay, which the students' programs contain.
    """
    if DIFF.search(text):
        lines = text.splitlines()
        return "\n".join(one for one in lines if one[:1] not in "+-" or one[1:] in open_lines
                         or one.startswith(("+++", "---", "@@")))  # fmt: skip
    if any(is_marker(line) for line in text.splitlines()):
        return without_solutions(text, "printed.py")
    return text


def value_of_gap(solved: str) -> bool:
    """Return whether the value below a cell comes from the last statement of a gap."""
    gaps = find_gaps(solved, "lesson.py")
    try:
        last = ast.parse(solved).body[-1]
    except (SyntaxError, IndexError):  # a cell of %magic, or an empty one
        return False
    return any(gap.begin < last.lineno < gap.end for gap in gaps)


def expected_numbers(root: Path, page: Any, lesson: str) -> list[float]:
    """Return the numbers that a lesson's questions ask for, except those that its text states."""
    import yaml

    file = root / "autograder" / "rubrics" / "expected" / f"{lesson}.yaml"
    if not file.is_file():
        return []
    values = yaml.safe_load(file.read_text(encoding="utf-8")).values()
    numbers = [float(one) for one in values if isinstance(one, (int, float))]
    lines = [line for cell in page.cells for line in cell.source.splitlines()]
    return [
        number
        for number in numbers
        if enough_digits(f"{number:.10g}") and not any(answers(line, [number]) for line in lines)
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
    data = output.get("data", {})
    return str(output.get("text") or data.get("text/plain") or data.get("text/markdown") or "")
