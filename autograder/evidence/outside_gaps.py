"""Find the changes that a student made outside the gaps of a program.

Text is compared, never run or parsed.

A gap may be filled with any number of lines. Of all alignments of the other lines, the one with the
fewest missing released lines counts. If several alignments are tied, the one with the fewest new
lines is used. A program in which only the gaps were filled shows no difference. Extra lines never
make a released line count as missing.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from autograder.settings.rubric import Pieces

MOST_LINES = 3_000  # limit for a student's program: comparing takes lines × lines steps
GONE = 10 * MOST_LINES  # cost of a missing released line; a new line costs 1
Line = tuple[int, str]  # number and text


@dataclass(frozen=True, slots=True)
class Compared:
    removed: tuple[Line, ...]  # with the number of the student's line that they would precede
    added: tuple[Line, ...]
    in_gaps: Mapping[int, Sequence[Line]]  # by the number of the gap, from 0


def compare(pieces: Pieces, lines: Sequence[str]) -> Compared:
    released: list[str | None] = []
    for number, piece in enumerate(pieces):
        released += [None] if number else []
        released += [text for _, text in meaningful(piece)]
    mine = list(meaningful(lines[:MOST_LINES]))
    start = alike(released, mine)
    end = alike(released[start:][::-1], mine[start:][::-1])
    return side_by_side(released[start : len(released) - end], mine[start : len(mine) - end])


def alike(released: Sequence[str | None], mine: Sequence[Line]) -> int:
    """Return how many lines are equal before the first gap."""
    pairs = enumerate(zip(released, mine, strict=False))
    return next((n for n, (a, b) in pairs if a != b[1]), min(len(released), len(mine)))


def meaningful(lines: Iterable[str]) -> Iterable[Line]:
    """Yield the number and text of each nonblank line, without comments and trailing spaces."""
    for number, line in enumerate(lines, start=1):
        text = line.expandtabs().rstrip()
        if "#" in text:
            text = without_comment(text)
        if text:
            yield number, text


def without_comment(text: str) -> str:
    """Return a line without its comment.

    A # before all quotes or after the last one begins a comment. Between quotes, a # may be part of
    a string.
    """
    if text.lstrip().startswith("#"):
        return ""
    at = text.find(" #")
    quotes = [text.find(quote) for quote in "\"'"]
    if any(0 <= quote < at for quote in quotes):
        at = text.find(" #", max(text.rfind('"'), text.rfind("'")))
    return text[:at].rstrip() if at >= 0 else text


def side_by_side(released: Sequence[str | None], lines: Sequence[Line]) -> Compared:
    """Align the lines by dynamic programming, starting from the ends. None stands for a gap."""
    costs = [list(range(len(lines), -1, -1))]
    for text in reversed(released):
        below = costs[-1]
        row = [below[-1] + (0 if text is None else GONE)] * (len(lines) + 1)
        gone, extra = (0, 0) if text is None else (GONE, 1)
        for at in range(len(lines) - 1, -1, -1):
            if lines[at][1] == text:
                row[at] = below[at + 1]
            else:  # without min(), this is twice as fast
                released_gone, line_added = below[at] + gone, row[at + 1] + extra
                row[at] = released_gone if released_gone < line_added else line_added
        costs.append(row)
    costs.reverse()
    removed: list[Line] = []
    added: list[Line] = []
    in_gaps: dict[int, list[Line]] = {}
    gap, at, end = -1, 0, 1 + (lines[-1][0] if lines else 0)
    for text, row, below in zip(released, costs, costs[1:], strict=False):
        if text is None:
            gap += 1
            while row[at] != below[at]:
                in_gaps.setdefault(gap, []).append(lines[at])
                at += 1
            continue
        while at < len(lines) and lines[at][1] != text and row[at] != below[at] + GONE:
            added.append(lines[at])
            at += 1
        if at < len(lines) and lines[at][1] == text:
            at += 1
        else:
            removed.append((lines[at][0] if at < len(lines) else end, text))
    return Compared(tuple(removed), (*added, *lines[at:]), in_gaps)


# --- marks -------------------------------------------------------------------------------------


MARKS = {
    "not filled": r"^\s*raise NotImplementedError",  # what `lessons build` puts into a gap
    "record": r"\bMLLOG\b|\bRecord\b|\blessons\.toolkit\b|\b(record|epoch)\.[a-z]",
    "clock": r"\b(perf_counter|monotonic|process_time|thread_time|clock_gettime|time\.time|now)\b",
    "names by text": r"\bvars\s*\(|__dict__|\b[gsd]e[tl]attr\s*\(|\b(importlib|ctypes|__import__)\b"
    r"|(?<![.\w])(exec|eval|globals)\s*\(|\bsys\.(modules|stdout|path)\b",
    "module": r"^\s*(import|from)\s+(?!(torch|tensorflow|numpy|math|mpi4py|horovod|lessons)\b)\w",
    "frame": r"\b(_getframe|currentframe|f_back|f_locals|inspect|traceback|settrace|setprofile)\b",
    "hook": r"\bregister_\w*hook\b|__(call|getattr|getattribute|torch_function|class)__|\batexit\b",
    "thread or process": r"\b(threading|Thread|multiprocessing|subprocess|fork|asyncio)\b"
    r"|(?<!&)&\s*$|\b(nohup|setsid|disown|coproc)\b",
    "sleep": r"\bsleep\b",
    "affinity": r"\b(sched_setaffinity|cpu_affinity|setpriority|taskset|chrt|renice|numactl)\b"
    r"|\bos\.nice\b|^\s*nice\b",
    "threads of a library": r"\bset_num(_interop)?_threads\b|_op_parallelism|\w+_NUM_THREADS",
    "environment": r"\b(environ|getenv|putenv|sitecustomize|PYTHON\w+|LD_\w+)\b|\bsys\.argv\b",
    "long line": r".{400}",
}
KINDS = {mark: re.compile(pattern) for mark, pattern in MARKS.items()}
LONGEST = 400  # maximum characters of a line that are searched


@lru_cache(20_000)  # most lines appear many times in a class
def marks_of(line: str) -> tuple[str, ...]:
    return tuple(mark for mark, pattern in KINDS.items() if pattern.search(line[:LONGEST]))
