"""Find and stop every process that a lesson started, even a detached one.

A kernel starts a session, mpirun gives each rank a process group, and a laptop job is detached, so
no process group contains them all. But they all inherit the environment. The runner therefore marks
each lesson with an environment variable.
"""

import os
import time
from collections.abc import Iterable

import psutil

MARK = "COURSE_RUN_MARK"
GRACE = 3.0  # seconds between terminating and killing


def marked(mark: str, parents: Iterable[int] = ()) -> list[psutil.Process]:
    """Return processes whose environment has the mark, and all descendants of `parents`."""
    found: dict[int, psutil.Process] = {}
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK) == mark:
                found[process.pid] = process
        except psutil.Error:
            continue  # gone, a zombie, or somebody else's
    for parent in parents:
        try:
            for child in psutil.Process(parent).children(recursive=True):
                found[child.pid] = child
        except psutil.Error:
            continue
    found.pop(os.getpid(), None)
    return [process for process in found.values() if lives(process)]


def lives(process: psutil.Process) -> bool:
    """Return whether a process is alive. It may end during the call."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def stop_marked(mark: str, parents: Iterable[int] = ()) -> list[str]:
    """Terminate all marked processes, then kill those that remain.

    Return the names of all processes that were stopped.
    """
    parents = list(parents)
    names: dict[int, str] = {}
    deadline = time.monotonic() + GRACE
    asked: set[int] = set()
    while True:  # repeatedly, because a process may start another while it is stopped
        processes = marked(mark, parents)
        if not processes:
            return sorted(names.values())
        late = time.monotonic() > deadline
        for process in processes:
            try:
                names.setdefault(process.pid, process.name())
                if late:
                    process.kill()
                elif process.pid not in asked:
                    process.terminate()
                    asked.add(process.pid)
            except psutil.Error:
                continue
        psutil.wait_procs(processes, timeout=0.2)
        if time.monotonic() > deadline + 10:  # uninterruptible: nothing more can be done here
            return sorted(names.values())
