"""Find a job's processes, in whichever session they run, and send signals to them."""

import contextlib
import os
import re
import signal
from collections import Counter
from pathlib import Path

MARKER = "COURSE_JOB_FOLDER"  # in the environment of every process of a job
# What the kernel says of a program, but not of its own threads, that may use one CPU only.
BOUND = re.compile(r"^VmRSS:.*^Cpus_allowed_list:\s*(\d+)$", re.M | re.S)


def of_job(folder: Path) -> list[int]:
    wanted = f"{MARKER}={folder}".encode()
    processes = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):  # the process has ended, or is another user's
            if wanted in path.read_bytes().split(b"\0"):
                processes.append(int(path.parent.name))
    return processes


def signal_all(folder: Path, number: signal.Signals) -> None:
    for process in of_job(folder):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(process, number)


def signal_steps(folder: Path, number: signal.Signals) -> None:
    """Send a signal to the job's steps. The batch script and its subshells do not get it."""
    script = str(folder / "script").encode()
    for process in of_job(folder):
        with contextlib.suppress(OSError):  # it has just ended
            if script not in Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0"):
                os.kill(process, number)


def bound_to_each_cpu() -> Counter[int]:
    """Return, for each CPU, the number of processes that may use only that CPU."""
    found = Counter[int]()
    for path in Path("/proc").glob("[0-9]*/status"):
        with contextlib.suppress(OSError):
            if bound := BOUND.search(path.read_text(errors="replace")):
                found[int(bound[1])] += 1
    return found
