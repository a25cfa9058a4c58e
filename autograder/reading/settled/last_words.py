"""Decide from the end of a file whether the program went on after an exception.

After an exception ends a program, launchers, schedulers and services may still print lines. If
anything else follows, the program may have caught the exception.
"""

import re
from collections.abc import Sequence

from autograder.reading import lines
from autograder.reading.outcome import EndLine

KEPT = 1 << 16  # bytes at a file's end that are examined
MOST_TELLING = 3  # lines per rank that may belong to an exception's own message

OTHERS = re.compile(
    r"\W*$"  # rulers and blank lines
    r"|\s"  # frames, and continuations of a message
    r"|\d{1,3}%\||.{0,200}\d%\|"  # bars
    r"|(?:wandb|COMET|srun|slurmstepd|sbatch|mpirun|prterun|orterun|make|conda|sys|free)\b.{0,30}:"
    r"|\+{1,3} \S"  # a shell that prints its commands
    r"|\[[WEIFC] ?\w{0,30}\.\w{1,4}:\d|\[[WEIF]\d{0,4} |[WEIF]\d{4} "  # logs of C++ programs
    r"|[\[\d :,.T-]{10,30}\]? ?(?:torch\.distributed|INFO|WARNING|ERROR|\[(?:INFO|WARN|ERR))"
    r"|(?:INFO|WARNING|ERROR|DEBUG|CRITICAL|FATAL)\b"
    r"|Traceback \(|During handling of|The above exception|Exception |Error in atexit"
    r"|File \"|terminate called|what\(\):|Fatal Python error|Current thread|Thread 0x"
    r"|Killing subprocess \d|Sending process \d|Terminating process"
    r"|Primary job|Failures?:|Root Cause|(?:time|host|rank|exitcode|error_file|traceback) *:"
    r"|\*\*\*|---|===|###|real\t|user\t|sys\t|\w{3} \w{3} {1,2}\d{1,2} \d\d:\d\d:\d\d"
    r"|(?i:(?:end|start|finish|date|job|state|node|nodes|cores|cpu|memory|exit|elapsed|host)"
    r"[a-z]{0,20}\b)"
    r"|/.{1,300}: (?:\w{0,40}Warning|.{0,20}resource_tracker)"
    r"|\S{1,300}:\d{1,6}: \w{0,40}Warning"
)


def last_telling(tail: bytes, next_line: int, ends: Sequence[EndLine]) -> int:
    """Return the line after which only launchers, schedulers, services and exceptions print.

    Up to `MOST_TELLING` other lines per rank may follow it. `next_line` is the number of the line
    after the tail.
    """
    end_lines = {end.where.line for end in ends}
    number, telling = next_line, dict[int | None, int]()  # per rank
    for raw in reversed(tail.split(b"\n")):
        number -= 1
        if not raw or number in end_lines:
            continue
        rank, text = lines.shown(raw)
        if OTHERS.match(text[:400]):
            continue
        telling[rank] = telling.get(rank, 0) + 1
        if telling[rank] > MOST_TELLING:
            return number
    return number if len(tail) >= KEPT else 0
