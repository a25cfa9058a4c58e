"""Recognise output that was copied from a terminal, with lines broken at the window's edge.

Such output cannot be read. The student should get one message that says so, not a hundred about
damaged lines.
"""

from autograder.codes import ProblemCode
from autograder.reading.scanned_file import ScannedFile
from autograder.records import Problem, Where

WIDTHS = range(20, 513)  # characters per line of a window
FEWEST = 2  # minimum lines; a single one may have been cut when the job was killed


def width_of(data: bytes, tag: int, end: int) -> int | None:
    """Return the width of a damaged record line that was cut off."""
    start = data.rfind(b"\n", 0, tag) + 1
    line = data[start:end].rstrip(b"\r")
    return None if line.endswith(b"}") else len(line.decode("utf-8", "replace"))


def name_them(file: ScannedFile) -> None:
    """Replace the problems of all lines broken by a terminal window with a single problem."""
    broken = {line for line, _ in file.broken}
    widths = [width for _, width in file.broken]
    if len(widths) < FEWEST or max(widths) - min(widths) > 1 or max(widths) not in WIDTHS:
        return
    file.problems = [problem for problem in file.problems if problem.where.line not in broken]
    reason = f"copied from a terminal: its long lines were broken after {max(widths)} characters"
    where = Where(file.name, min(broken))
    file.problems.append(Problem(where, "", reason, ProblemCode.TERMINAL_COPY))
