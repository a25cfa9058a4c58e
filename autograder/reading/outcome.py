"""How a run ended: what programs, launchers and schedulers say when one does not end well."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from autograder.records import Where

Kind = Literal["oom", "stall", "timeout", "cancelled", "exception", "exit", "step", "weak"]


@dataclass(frozen=True, slots=True)
class EndLine:
    """A line that tells how a run ended, or may have."""

    kind: Kind
    where: Where
    text: str
    reason: str  # in words for people


OOM_EXCEPTION = re.compile(
    r"(?i)out of memory|outofmemory|OOM when allocating|RESOURCE_EXHAUSTED|ResourceExhausted"
    r"|MemoryError|std::bad_alloc|cannot allocate memory|CUDA_ERROR_OUT_OF_MEMORY"
)
# What a launcher raises because another process ended: an echo, not a cause.
ECHO = re.compile(
    r"ChildFailedError|SignalException|DistBackendError|HorovodInternalError|ProcessExitedException"
    r"|ProcessRaisedException"
)
HOST_MEMORY = "a process was killed because the host's memory was used up"
GPU_MEMORY = "the GPU's memory was used up"
STALL = "ranks waited for others that did not come: all must do the same collectives in one order"
CUT = r"CANCELLED AT .{0,60}DUE TO "
NOT_DUE = r"CANCELLED AT (?!.{0,60}DUE TO)"

# tag, pattern, kind, reason. A tag is a part of every line that the pattern can match.
PATTERNS: tuple[tuple[str, str, Kind, str], ...] = (
    ("CANCELLED AT", CUT + "TIME LIMIT", "timeout", "Slurm ended the job at its time limit"),
    ("CANCELLED AT", CUT + "PREEMPTION", "cancelled", "Slurm took the nodes for another job"),
    ("CANCELLED AT", CUT + "NODE FAILURE", "cancelled", "a node failed"),
    (
        "CANCELLED AT",
        r"\*\*\* JOB \S{1,40} ON \S{1,100} " + NOT_DUE,
        "cancelled",
        "the job was cancelled",
    ),
    (
        "CANCELLED AT",
        r"\*\*\* STEP \S{1,40} ON \S{1,100} " + NOT_DUE,
        "step",
        "Slurm ended the job step",
    ),
    ("job killed", "PBS: job killed: walltime", "timeout", "PBS ended the job at its time limit"),
    (
        "job killed",
        "PBS: job killed: (?:v?mem|rss)",
        "oom",
        "PBS ended the job at its memory limit",
    ),
    ("TERM_", "TERM_RUNLIMIT", "timeout", "LSF ended the job at its time limit"),
    ("TERM_", "TERM_MEMLIMIT", "oom", "LSF ended the job at its memory limit"),
    ("TERM_", "TERM_OWNER", "cancelled", "the job was cancelled"),
    ("oom", r"(?i)\boom[-_]kill", "oom", HOST_MEMORY),
    ("OOM", "OOM Killed|OOM-killed", "oom", HOST_MEMORY),
    ("OOM", "OOM when allocating tensor", "oom", "the device's memory was used up"),
    ("emory", "Out Of Memory", "oom", HOST_MEMORY),
    ("emory", "(?i)exceeded (?:job |step )?memory limit", "oom", HOST_MEMORY),
    ("emory", "CUDA(?: error:)? out of memory", "oom", GPU_MEMORY),
    ("OUT_OF_MEMORY", "CUDA_ERROR_OUT_OF_MEMORY", "oom", GPU_MEMORY),
    ("bad_alloc", "std::bad_alloc", "oom", HOST_MEMORY),
    ("subset of ranks", "waiting for remainder of ranks", "stall", STALL),
    ("Stalled ", "Stalled (?:ranks|ops):", "stall", STALL),
    ("ollective", "Watchdog caught collective operation timeout", "stall", STALL),
    ("ollective", "Detected mismatch between collectives", "stall", STALL),
    (
        "rror: ",
        r"(?:srun|slurmstepd): error: .{0,120}[Ee]xited with exit code [1-9]",
        "exit",
        "a process ended with an error",
    ),
    (
        "rror: ",
        r"srun: error: .{0,120}(?:Segmentation fault|Killed|Aborted|Bus error|Terminated)",
        "exit",
        "a process was killed",
    ),
    ("rror: ", r"^(?:sbatch|srun): error: (?!.{0,120}task)", "weak", "Slurm reports an error"),
    ("fault", "Segmentation fault", "exit", "a process was killed by a segmentation fault"),
    (
        "dumped",
        r"(?:Aborted|Bus error|Illegal instruction) +\(core dumped\)",
        "exit",
        "a process was killed",
    ),
    ("MPI_ABORT", "MPI_ABORT was invoked", "exit", "a rank aborted all others"),
    (
        "non-zero",
        "(?:process|rank).{0,80}(?:returned a|exited with) non-zero",
        "exit",
        "a process ended with an error",
    ),
    ("Killed", r"\b\d{2,9} Killed\b", "exit", "a process was killed"),
    ("on signal", "exited on signal", "exit", "a process was killed"),
    (
        "terminate called",
        "terminate called after throwing an instance of",
        "exit",
        "a process ended with a C++ exception",
    ),
    (" FAILED", r"^\S{1,200}\.py FAILED$", "exit", "torchrun reports that the program failed"),
    (
        "not found",
        r"(?:^|: )(?:line \d+: )?\S{1,80}: command not found",
        "weak",
        "the job script calls a command that is not there",
    ),
    (
        "open file",
        "can't open file .{1,300}No such file",
        "weak",
        "Python did not find the program",
    ),
)
RAISED = "the program ended with this exception"
TRACEBACK = "Traceback (most recent call last)"
IGNORED = b"Exception ignored in"  # ahead of a traceback that ended nothing, as at Python's exit
ANCHORS = tuple(dict.fromkeys((TRACEBACK.encode(), *(tag.encode() for tag, *_ in PATTERNS))))
COMPILED = tuple(
    (tag, re.compile(pattern), kind, reason) for tag, pattern, kind, reason in PATTERNS
)
EXCEPTION = re.compile(
    r"(?:[A-Za-z_]\w{0,100}\.){0,20}[A-Za-z_]\w{0,100}"
    r"(?:: .*|(?:Error|Exception|Interrupt|Exit|Iteration))$"
)


def read(line: str, where: Where) -> EndLine | None:
    for tag, pattern, kind, reason in COMPILED:
        if tag in line and pattern.search(line):
            return EndLine(kind, where, line.strip()[:300], reason)
    return None


def read_exception(line: str, where: Where) -> EndLine | None:
    """The last line of a traceback, if it is one: a warning's traceback has none."""
    if not EXCEPTION.match(line[:400]):
        return None
    if OOM_EXCEPTION.search(line):
        memory = GPU_MEMORY if "CUDA" in line or "cuda" in line else "memory was used up"
        return EndLine("oom", where, line[:300], memory)
    if line.startswith("KeyboardInterrupt"):
        return EndLine("cancelled", where, line[:300], "the program was interrupted")
    kind: Kind = "exit" if ECHO.search(line) else "exception"
    return EndLine(kind, where, line[:300], RAISED)


def exception_name(text: str) -> str:
    """`TypeError` of the line that ends a traceback, without the modules before it."""
    return re.split(r"[: ]", text, maxsplit=1)[0].rsplit(".", 1)[-1]


def decide(
    whole: bool | None, ends: Sequence[EndLine], last_words: Sequence[EndLine]
) -> tuple[str, list[EndLine]]:
    """The outcome, and the lines that speak for it.

    `whole`: all of the run's epochs are there (None: the output does not say how many there should
    be, and the last one is finished). `ends` stand behind the run's last line or in other files;
    `last_words` are those of them after which nothing else was printed.
    """
    if whole:
        fatal = [end for end in last_words if end.kind in ("oom", "exception", "exit")]
        oom = any(end.kind == "oom" for end in fatal)
        return ("oom" if oom else "failed" if fatal else "completed"), list(ends)
    kinds = {end.kind for end in ends}
    for kind, outcome in CAUSES:
        if kind not in kinds or (kind == "stall" and "exception" in kinds):
            continue
        if kind == "weak" and whole is None:
            continue
        return outcome, list(ends)
    return ("incomplete" if whole is False else "completed"), []


# What such a line means for a run that is not whole, the strongest first. Lack of memory kills, and
# exceptions follow; a stall lasts until the time limit; where a rank raised an exception, others
# stalled because of it. Slurm also ends a step after one of its processes failed.
CAUSES: tuple[tuple[Kind, str], ...] = (
    ("oom", "oom"),
    ("stall", "stalled"),
    ("timeout", "timeout"),
    ("cancelled", "cancelled"),
    ("exception", "failed"),
    ("exit", "failed"),
    ("step", "cancelled"),
    ("weak", "failed"),
)
