"""Find out how a run ended from messages of programs, launchers and schedulers (ends.yaml)."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from autograder import data_files
from autograder.codes import FindingCode, Outcome
from autograder.notes import Note
from autograder.reading.formats import template
from autograder.reading.line_facts import make_problem
from autograder.records import Where

Kind = Literal["oom", "stall", "timeout", "cancelled", "exception", "exit", "step", "weak"]
FILE = Path(__file__).with_name("ends.yaml")


@dataclass(frozen=True, slots=True)
class EndLine:
    """A line that shows, or may show, how a run ended."""

    kind: Kind
    where: Where
    text: str
    reason: str  # in words for people
    raised: bool = False  # the last line of an exception, which may have been caught

    def as_problem(self) -> Note:
        """Return the line as a problem: an EXCEPTION if the program raised an error."""
        raised_by_program = self.kind == "exception" or (self.raised and self.kind == "exit")
        code = FindingCode.EXCEPTION if raised_by_program else FindingCode.READ_PROBLEM
        return make_problem(self.where, self.text, self.reason, code)


@lru_cache(maxsize=1)
def data() -> dict[str, Any]:
    return data_files.load(FILE)


@lru_cache(maxsize=1)
def signs() -> tuple[tuple[template.Template, Kind, str], ...]:
    """Return the templates of lines that show an end, each with its kind and reason."""
    return tuple(
        (template.load(source, is_sign=True), group["kind"], group["reason"])
        for group in data()["signs"]
        for source, _ in group["lines"]
    )


@lru_cache(maxsize=1)
def tags() -> tuple[str, ...]:
    """Return words one of which is in every line that shows an end or begins a traceback."""
    return tuple(dict.fromkeys((TRACEBACK, *(sign.tag for sign, _, _ in signs()))))


@lru_cache(maxsize=1)
def printed_after() -> re.Pattern[str]:
    """Return a pattern for lines that others print after an exception has ended a program."""
    words = "|".join(r"\s*".join(map(re.escape, text.split())) for text in data()["printed_after"])
    return re.compile(rf"(?i)\W*$|\s|.{{0,200}}\d%\||\W*[\d :,.T-]{{0,30}}[\W_]{{0,9}}(?:{words})")


TRACEBACK = "Traceback (most recent call last)"
# Lines before a traceback that ended nothing: at Python's exit, in a thread, in a log's own line.
IGNORED = re.compile(
    rb"Exception ignored in|Exception in thread|^--- Logging error ---|^Error in atexit"
)
EXCEPTION = re.compile(
    r"(?:[A-Za-z_]\w{0,100}\.){0,20}[A-Za-z_]\w{0,100}"
    r"(?:: .*|(?:Error|Exception|Interrupt|Exit|Iteration))$"
)
OOM_EXCEPTION = re.compile(
    r"(?i)out of memory|outofmemory|OOM when allocating|RESOURCE_EXHAUSTED|ResourceExhausted"
    r"|MemoryError|std::bad_alloc|cannot allocate memory|CUDA_ERROR_OUT_OF_MEMORY"
)
# What a launcher raises because another process ended: an echo, not a cause.
ECHO = re.compile(
    r"ChildFailedError|SignalException|DistBackendError|HorovodInternalError|ProcessExitedException"
    r"|ProcessRaisedException|Connection (?:closed|reset) by peer"
)


def read(line: str, where: Where) -> EndLine | None:
    """Return how a run ended if this line seems to report it, otherwise None."""
    for sign, kind, reason in signs():
        if sign.match(line):
            return EndLine(kind, where, line.strip()[:300], reason)
    return None


def read_exception(line: str, where: Where) -> EndLine | None:
    """Return the kind of end that a traceback's last line shows.

    A warning's traceback shows none.
    """
    if not EXCEPTION.match(line[:400]):
        return None
    kind: Kind = "exit" if ECHO.search(line) else "exception"
    reason = "the program ended with this exception"
    if OOM_EXCEPTION.search(line):
        kind, memory = "oom", "the GPU's memory" if "cuda" in line.lower() else "memory"
        reason = f"{memory} was used up"
    elif line.startswith("KeyboardInterrupt"):
        kind, reason = "cancelled", "the program was interrupted"
    return EndLine(kind, where, line[:300], reason, raised=True)


def exception_name(text: str) -> str:
    """Return only the name of the exception that ends a traceback, such as `TypeError`."""
    return re.split(r"[: ]", text, maxsplit=1)[0].rsplit(".", 1)[-1]


def decide(
    whole: bool | None, ends: Sequence[EndLine], final: Sequence[EndLine]
) -> tuple[Outcome, list[EndLine]]:
    """Return the outcome, and the lines that show it.

    `whole`: whether all epochs are there (None: their number is unknown, and the last one has
    ended). `ends` come after the run's last line or are in other files. `final` is a subset of
    them, after which nothing shows that the program continued.
    """
    last = set(final)
    cut = whole is False or (whole is None and bool(last))
    kinds = {end.kind for end in ends if cut or counts(whole, end, last)}
    for kind, outcome in CAUSES.items():
        if kind in kinds and not (kind == "stall" and "exception" in kinds):
            return outcome, list(ends)
    if whole is None and any(end.raised for end in ends):
        # It continued after an exception, and nothing shows how far.
        return Outcome.UNKNOWN, list(ends)
    ended = Outcome.INCOMPLETE if whole is False else Outcome.COMPLETED
    return ended, list(ends) if whole else []


def counts(whole: bool | None, end: EndLine, final: Collection[EndLine]) -> bool:
    """Return whether a line after a run's last epoch decides the run's outcome.

    A scheduler's message always does. A program's message does only if the program did not
    continue.
    """
    if end.kind in ("timeout", "cancelled", "step") and not end.raised:
        return True
    return end in final and not (end.kind == "weak" and whole is not None)


# Outcomes of a run that is not whole, in order of precedence. Lack of memory causes exceptions. A
# stall lasts until the time limit. If one rank raises an exception, others stall because of it.
# Slurm also ends a step after one of its processes failed.
CAUSES: dict[Kind, Outcome] = {
    "oom": Outcome.OOM,
    "stall": Outcome.STALLED,
    "timeout": Outcome.TIMEOUT,
    "cancelled": Outcome.CANCELLED,
    "exception": Outcome.FAILED,
    "exit": Outcome.FAILED,
    "step": Outcome.CANCELLED,
    "weak": Outcome.FAILED,
}
