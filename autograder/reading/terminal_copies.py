"""Output copied from a terminal into a file: its long lines are broken where the window ended.

Nothing in it can be read, but the student should hear what it is, and not a hundred times that a
line is damaged.
"""

from autograder.codes import ProblemCode
from autograder.reading.scanned_file import ScannedFile
from autograder.records import Problem, Where

WIDTHS = range(20, 513)  # characters, of windows
FEWEST = 2  # lines: a single one may have been cut when the job was killed


def width_of(data: bytes, tag: int, end: int) -> int | None:
    """Of a damaged line of a record: how wide it stands in the file, if its end is missing."""
    start = data.rfind(b"\n", 0, tag) + 1
    line = data[start:end].rstrip(b"\r")
    return None if line.endswith(b"}") else len(line.decode("utf-8", "replace"))


def name_them(file: ScannedFile) -> None:
    """One word on all lines that a window broke instead of one on each."""
    broken = {line for line, _ in file.broken}
    widths = [width for _, width in file.broken]
    if len(widths) < FEWEST or max(widths) - min(widths) > 1 or max(widths) not in WIDTHS:
        return
    file.problems = [problem for problem in file.problems if problem.where.line not in broken]
    reason = f"copied from a terminal: its long lines were broken after {max(widths)} characters"
    where = Where(file.name, min(broken))
    file.problems.append(Problem(where, "", reason, ProblemCode.TERMINAL_COPY))
