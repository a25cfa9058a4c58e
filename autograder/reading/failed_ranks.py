"""Say which rank of a failed job failed first, with its error and its line in the program."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePath

from autograder.reading import ends, lines

MOST = 8  # ranks; all ranks of a large job often fail alike
FRAME = re.compile(r'\s+File "([^"]+)", line (\d+)(?:, in .*)?$')
LIBRARY = re.compile(
    r"site-packages|dist-packages|/lib/python\d|^<|lessons/toolkit/|/cluster/launchers.py|/__autograph"
)
CHAINED = ("During handling of the above exception", "The above exception was the direct cause")
SOURCE_PLACE = re.compile(r"\[/\S{1,200}:\d{1,6}\] ")
# How launchers report the process that ended first. Later ones may have been killed because of it.
FIRST_END = re.compile(
    r"Process name: \S*,(?P<mpi>\d+)\]\s+(?P<mpi_how>Exit code: +\d+)"
    r"|process rank (?P<prte>\d+) with PID \d+ on node \S+ exited on\s+(?P<prte_how>signal .*\))"
    r"|srun: error: \S+: tasks? (?P<srun>\d+)[^:\n]*: (?P<srun_how>.+)"
    r"|Root Cause(?s:.{1,300}?)\brank +: (?P<torch>\d+)"
    r"(?s:.{1,80}?)(?P<torch_how>exitcode +: -?\d+)"
)
HAS_CODE = re.compile(r"code *:? *\d")  # a signal has none, or a negative one


@dataclass(slots=True)
class Failure:
    """The error that ended a rank, and where it was in the program."""

    rank: int | None  # None: no label says which
    error: str
    file: str = ""
    line: str = ""
    source: str = ""

    def __str__(self) -> str:
        if not self.file:
            return self.error
        whose = "" if LIBRARY.search(self.file) else "your "
        source = f": {self.source}" if self.source else ""
        return f"{self.error}, in line {self.line} of {whose}{PurePath(self.file).name}{source}"


def failed_ranks(output: Iterable[str]) -> tuple[str, ...]:
    """Return a sentence for each rank that failed, the first failure first.

    Errors that the end of another rank caused, such as a closed connection, come last.
    """
    printed = list(output)
    found = in_tracebacks(printed)
    if end := FIRST_END.search("\n".join(printed)):
        named = {name: text for name, text in end.groupdict().items() if text}
        (_, rank), (_, how) = named.items()
        unnamed = [failure for failure in found if failure.rank is None]
        if int(rank) not in {failure.rank for failure in found}:
            if len(unnamed) == 1 and HAS_CODE.search(how):
                unnamed[0].rank = int(rank)
            elif not unnamed:
                ended = f"it ended without an error message ({' '.join(how.split())})"
                found.append(Failure(int(rank), ended))
    found.sort(key=lambda failure: bool(ends.ECHO.search(failure.error)))
    return tuple(sentences(found))


def sentences(found: list[Failure]) -> Iterator[str]:
    for number, failure in enumerate(found[:MOST]):
        who = "a process" if failure.rank is None else f"rank {failure.rank}"
        if number:
            yield f"{who}: {failure}"
        elif ends.ECHO.search(failure.error):
            yield f"another rank ended first, without an error message; {who}: {failure}"
        else:
            yield f"{who} failed{' first' if found[1:] else ''}: {failure}"
    if found[MOST:]:
        yield f"and {len(found) - MOST} more"


def in_tracebacks(output: Iterable[str]) -> list[Failure]:
    """Return the last traceback of each rank, and all different ones without a label, in order."""
    found: list[Failure] = []
    # Of each rank: files, lines and sources. None: the traceback ended nothing.
    begun: dict[int | None, list[list[str]] | None] = {}
    before: dict[int | None, str] = {}
    chained: set[int | None] = set()
    for line in output:
        rank, text = lines.split_label(line)
        if ends.TRACEBACK in text:
            ignored = ends.IGNORED.search(before.get(rank, "").encode())
            begun[rank] = None if ignored else []
        elif frame := FRAME.match(text):
            frames = begun.setdefault(rank, [])
            if frames is not None:
                frames.append([*frame.groups(), ""])
        elif text.startswith(CHAINED):
            chained.add(rank)
        elif begun.get(rank) and text[:4].isspace():
            frames = begun[rank] or []
            frames[-1][2] = frames[-1][2] or text.strip()[:100]
        elif rank in begun and ends.EXCEPTION.match(text[:400]):
            frames = begun.pop(rank)
            if frames is not None:
                earlier = [one for one in found if one.rank == rank]
                if earlier and (rank is not None or rank in chained):
                    found.remove(earlier[-1])
                chained.discard(rank)
                own = [frame for frame in frames if not LIBRARY.search(frame[0])]
                error = SOURCE_PLACE.sub("", text).partition(". This is typically")[0][:200]
                place = (own or frames or [[""] * 3])[-1]
                failure = Failure(rank, error.rstrip(" .,:"), *place)
                launchers = rank is None and not own and ends.ECHO.search(text)
                if failure not in found and not launchers:
                    found.append(failure)
        before[rank] = text
    return found
