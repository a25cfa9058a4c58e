"""Find and stop every process that a lesson started, even a detached one.

A kernel starts a session, mpirun gives each rank a process group, and a laptop job is detached, so
no process group contains them all. But they all inherit the environment. The runner therefore marks
each lesson with an environment variable.
"""

import contextlib
import os
import time

import psutil

MARK = "COURSE_RUN_MARK"
GRACE = 3.0  # seconds between terminating and killing


def marked(mark: str) -> list[psutil.Process]:
    """Return the processes whose environment has the mark, except this one."""
    found = []
    for process in psutil.process_iter():
        try:
            ours = process.environ().get(MARK) == mark and process.pid != os.getpid()
            if ours and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            continue  # gone, a zombie, or somebody else's
    return found


def stop_marked(mark: str) -> list[str]:
    """Terminate all marked processes, then kill those that remain.

    Return the names of all processes that were stopped.
    """
    names: dict[int, str] = {}
    deadline = time.monotonic() + GRACE
    # Repeatedly, because a process may start another while it is stopped. One that does not end
    # when it is killed cannot be interrupted: nothing more can be done here.
    while (processes := marked(mark)) and time.monotonic() < deadline + 10:
        for process in processes:
            with contextlib.suppress(psutil.Error):
                first = process.pid not in names
                names.setdefault(process.pid, process.name())
                if time.monotonic() > deadline:
                    process.kill()
                elif first:
                    process.terminate()
        psutil.wait_procs(processes, timeout=0.2)
    return sorted(names.values())
