"""Find a job's processes, in whichever session they run, and send signals to them."""

import contextlib
import os
import signal
from pathlib import Path

MARKER = "COURSE_JOB_FOLDER"  # in the environment of every process of a job


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
