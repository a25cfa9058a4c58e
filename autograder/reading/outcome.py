"""Find out how a run ended from messages of programs, launchers and schedulers."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from autograder.codes import Outcome, ProblemCode
from autograder.records import Problem, Where

Kind = Literal["oom", "stall", "timeout", "cancelled", "exception", "exit", "step", "weak"]


@dataclass(frozen=True, slots=True)
class EndLine:
    """A line that shows, or may show, how a run ended."""

    kind: Kind
    where: Where
    text: str
    reason: str  # in words for people
    raised: bool = False  # the last line of an exception, which may have been caught

    def as_problem(self) -> Problem:
        """Return the line as a problem: an EXCEPTION if the program raised an error."""
        raised_by_program = self.kind == "exception" or (self.raised and self.kind == "exit")
        code = ProblemCode.EXCEPTION if raised_by_program else ProblemCode.OTHER
        return Problem(self.where, self.text, self.reason, code)


OOM_EXCEPTION = re.compile(
    r"(?i)out of memory|outofmemory|OOM when allocating|RESOURCE_EXHAUSTED|ResourceExhausted"
    r"|MemoryError|std::bad_alloc|cannot allocate memory|CUDA_ERROR_OUT_OF_MEMORY"
)
# What a launcher raises because another process ended: an echo, not a cause.
ECHO = re.compile(
    r"ChildFailedError|SignalException|DistBackendError|HorovodInternalError|ProcessExitedException"
    r"|ProcessRaisedException|Connection (?:closed|reset) by peer"
)
HOST_MEMORY = "a process was killed because the host's memory was used up"
GPU_MEMORY = "the GPU's memory was used up"
STALL = (
    "ranks waited for others in vain: all ranks must call the same collectives in the same order"
)
NEVER_CAME = "a task waited in vain for others"
CUT = r"CANCELLED AT .{0,60}DUE TO "
NOT_DUE = r"CANCELLED AT (?!.{0,60}DUE TO)"

ENDED_WITH_ERROR = "a process ended with an error"
RAISED = "the program ended with this exception"
SHELL = r"^[^:]{1,300}: line \d{1,6}: [^:]{1,300}: "
ARGPARSE = (
    r"^\S{1,200}: error: (?:unrecognized arguments|the following arguments are required"
    r"|argument \S|one of the arguments|expected \w|ambiguous option|too few arguments)"
)
CLICK = (
    r"^Error: (?:No such option|Missing (?:option|argument|parameter|command)|Invalid value for"
    r"|Got unexpected extra argument|No such command)"
)
NOT_TAKEN = "the program was called with arguments that it does not accept"

# tag, pattern, kind, reason. A tag is a part of every line that the pattern can match.
PATTERNS: tuple[tuple[str, str, Kind, str], ...] = (
    ("CANCELLED AT", CUT + "TIME LIMIT", "timeout", "Slurm ended the job at its time limit"),
    ("CANCELLED AT", CUT + "PREEMPTION", "cancelled", "Slurm gave the nodes to another job"),
    ("CANCELLED AT", CUT + "NODE FAILURE", "cancelled", "a node failed"),
    ("CANCELLED AT", CUT, "cancelled", "Slurm ended the job"),
    ("CANCELLED AT", r"\*\*\* JOB \S{1,40} ON \S{1,100} " + NOT_DUE, "cancelled",
     "the job was cancelled"),
    ("CANCELLED AT", r"\*\*\* STEP \S{1,40} ON \S{1,100} " + NOT_DUE, "step",
     "Slurm ended the job step"),
    ("job killed", "PBS: job killed: walltime", "timeout", "PBS ended the job at its time limit"),
    ("job killed", "PBS: job killed: (?:v?mem|rss)", "oom",
     "PBS ended the job at its memory limit"),
    ("TERM_", "TERM_RUNLIMIT", "timeout", "LSF ended the job at its time limit"),
    ("TERM_", "TERM_MEMLIMIT", "oom", "LSF ended the job at its memory limit"),
    ("TERM_", "TERM_OWNER", "cancelled", "the job was cancelled"),
    ("State: ", r"^State: TIMEOUT\b", "timeout", "Slurm ended the job at its time limit"),
    ("State: ", r"^State: OUT_OF_ME", "oom", HOST_MEMORY),
    ("State: ", r"^State: (?:CANCELLED|PREEMPTED|NODE_FAIL)", "cancelled", "the job was cancelled"),
    ("State: ", r"^State: FAILED\b", "exit", "the job ended with an error"),
    ("Detected Key", "^Detected KeyboardInterrupt", "cancelled", "the program was interrupted"),
    ("oom", r"(?i)\boom[-_]kill", "oom", HOST_MEMORY),
    ("OOM", "OOM Killed|OOM-killed", "oom", HOST_MEMORY),
    ("OOM", "OOM when allocating tensor", "oom", "the device's memory was used up"),
    ("emory", "Out Of Memory", "oom", HOST_MEMORY),
    ("emory", "(?i)exceeded (?:job |step )?memory limit", "oom", HOST_MEMORY),
    ("emory", "(?:CUDA|HIP|XPU)(?: error:)? out of memory", "oom", GPU_MEMORY),
    ("OUT_OF_MEMORY", "CUDA_ERROR_OUT_OF_MEMORY", "oom", GPU_MEMORY),
    ("bad_alloc", "std::bad_alloc", "oom", HOST_MEMORY),
    ("subset of ranks", "waiting for remainder of ranks", "stall", STALL),
    ("Stalled ", "Stalled (?:ranks|ops):", "stall", STALL),
    ("ollective", "Watchdog caught collective operation timeout", "stall", STALL),
    ("ollective", "Detected mismatch between collectives", "stall", STALL),
    ("in vain; ", r"\w has waited \S{1,12} s for the others in vain; ", "stall", NEVER_CAME),
    ("nobody came", r"nobody came to \S{1,300} within \S{1,12} s$", "stall", NEVER_CAME),
    (": error: ", r"(?:srun|slurmstepd): error: .{0,120}[Ee]xited with exit code [1-9]", "exit",
     "a process ended with an error"),
    (": error: ",
     r"srun: error: .{0,120}(?:Segmentation fault|Killed|Aborted|Bus error|Terminated)", "exit",
     "a process was killed"),
    (": error: ", ARGPARSE, "exit", NOT_TAKEN),
    ("Error: ", CLICK, "exit", NOT_TAKEN),
    ("FATAL Flags", "^FATAL Flags parsing error", "exit", "a flag that the program rejects"),
    ("execve(): ", r"execve\(\): .{1,300}: ", "exit", "the program to start was not found"),
    (": error: ", r"^(?:sbatch|srun): error: (?!.{0,120}task)", "weak", "Slurm reports an error"),
    ("srun: fatal", "^srun: fatal: ", "exit", "Slurm could not start the job step"),
    ("fault", "Segmentation fault", "exit", "a process was killed by a segmentation fault"),
    ("dumped", r"(?:Aborted|Bus error|Illegal instruction) +\(core dumped\)", "exit",
     "a process was killed"),
    ("MPI_ABORT", "MPI_ABORT was invoked", "exit", "a rank aborted all others"),
    ("non-zero", "(?:process|rank).{0,80}(?:returned a|exited with) non-zero", "exit",
     "a process ended with an error"),
    ("non-zero", "non-zero (?:exit )?(?:status|code):? {0,2}[1-9]", "exit", ENDED_WITH_ERROR),
    ("xit code", r"\b(?:with|failed:?) (?:return or )?exit code:? {0,2}[1-9]", "exit",
     ENDED_WITH_ERROR),
    ("xit status", r"\b[Ee]xit status ?[:=]? {0,2}[1-9]", "exit", ENDED_WITH_ERROR),
    ("xit_status", r"\b[Ee]xit_status ?[:=] {0,2}[1-9]", "exit", ENDED_WITH_ERROR),
    ("Error: ", "^(?:SyntaxError|IndentationError|TabError): ", "exception", RAISED),
    ("rror while", "error while loading shared libraries: ", "exit", "a library was not found"),
    ("syntax error", r"line \d{1,6}: syntax error", "exit", "the job script has a syntax error"),
    ("unbound var", r"line \d{1,6}: \S{1,80}: unbound variable", "exit", "a variable is not set"),
    (" slots ", "There are not enough slots available", "exit", "MPI has fewer slots than ranks"),
    ("was unable to", "mpirun was unable to (?:launch|find|start)", "exit", "MPI could not start"),
    ("Killed", r"\b\d{2,9} Killed\b", "exit", "a process was killed"),
    ("on signal", "exited on signal", "exit", "a process was killed"),
    ("noticed that", r"run noticed that process rank \d.{0,200} exited\b", "exit",
     "a process was killed"),  # Open MPI breaks the line after `exited` or `on`
    ("terminate called", "terminate called after throwing an instance of", "exit",
     "a process ended with a C++ exception"),
    (" FAILED", r"^\S{1,200}\.py FAILED$", "exit", "torchrun reports that the program failed"),
    ("not found", r"(?:^|: )(?:line \d+: )?\S{1,80}: command not found", "weak",
     "the job script calls a command that does not exist"),
    (": No such", SHELL + "No such file or directory$", "weak",
     "the job script names a missing file"),
    ("ermission d", SHELL + "Permission denied$", "weak", "no permission to run this file"),
    ("annot execute", SHELL + "cannot execute", "weak", "no permission to run this file"),
    ("Lmod has", "^Lmod has detected the following error", "weak", "a module was not found"),
    ("modulefile", "(?:locate a|load) modulefile", "weak", "a module was not found"),
    ("NotFound: ", "^EnvironmentNameNotFound: ", "weak", "conda has no such environment"),
    ("open file", "can't open file .{1,300}No such file", "weak",
     "Python did not find the program"),
)  # fmt: skip
TRACEBACK = "Traceback (most recent call last)"
# Lines before a traceback that ended nothing: at Python's exit, in a thread, in a log's own line.
IGNORED = re.compile(
    rb"Exception ignored in|Exception in thread|^--- Logging error ---|^Error in atexit"
)
ANCHORS = tuple(dict.fromkeys((TRACEBACK.encode(), *(tag.encode() for tag, *_ in PATTERNS))))
COMPILED = tuple(
    (tag, re.compile(pattern), kind, reason) for tag, pattern, kind, reason in PATTERNS
)
EXCEPTION = re.compile(
    r"(?:[A-Za-z_]\w{0,100}\.){0,20}[A-Za-z_]\w{0,100}"
    r"(?:: .*|(?:Error|Exception|Interrupt|Exit|Iteration))$"
)


def read(line: str, where: Where) -> EndLine | None:
    """Return how a run ended if this line seems to report it, otherwise None."""
    for tag, regex, kind, reason in COMPILED:
        if tag in line and regex.search(line):
            return EndLine(kind, where, line.strip()[:300], reason)
    return None


def read_exception(line: str, where: Where) -> EndLine | None:
    """Return the kind of end that a traceback's last line shows.

    A warning's traceback shows none.
    """
    if not EXCEPTION.match(line[:400]):
        return None
    if OOM_EXCEPTION.search(line):
        memory = GPU_MEMORY if "CUDA" in line or "cuda" in line else "memory was used up"
        return EndLine("oom", where, line[:300], memory, raised=True)
    if line.startswith("KeyboardInterrupt"):
        return EndLine("cancelled", where, line[:300], "the program was interrupted", raised=True)
    kind: Kind = "exit" if ECHO.search(line) else "exception"
    return EndLine(kind, where, line[:300], RAISED, raised=True)


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
    kinds = {end.kind for end in ends if whole is False or counts(whole, end, last)}
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
