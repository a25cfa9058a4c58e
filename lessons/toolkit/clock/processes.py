"""Inspect the processes of a rank from outside, and make them take turns. Linux only."""

import contextlib
import ctypes
import os
import signal
import time
from collections.abc import Iterable
from pathlib import Path

PROC = Path("/proc")
TICKS = os.sysconf("SC_CLK_TCK")
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36  # from <linux/prctl.h>


def end_with_parent() -> None:
    """Make sure that this process is killed when its parent ends, for whatever reason."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def adopt_orphans() -> None:
    """Make this process the new parent of descendants whose own parent has ended."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)


def descendants(pid: int) -> set[int]:
    """Return the processes that this one started, and all of their descendants."""
    children: dict[int, list[int]] = {}
    for folder in PROC.iterdir():
        if folder.name.isdigit() and (fields := stat_of(int(folder.name))):
            children.setdefault(int(fields[1]), []).append(int(folder.name))
    found: set[int] = set()
    new = [pid]
    while new:
        new = [child for parent in new for child in children.get(parent, ()) if child not in found]
        found.update(new)
    return found


def stat_of(pid: int) -> list[str]:
    """Return a process's `stat` fields after its name, or an empty list if it has ended."""
    try:
        return (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def wait_for(states: str, pids: Iterable[int], seconds: float) -> None:
    """Wait at most `seconds` until each process has ended or is in one of these states."""
    until = time.monotonic() + seconds
    for pid in pids:
        while (stat := stat_of(pid)) and stat[0] not in f"ZX{states}" and time.monotonic() < until:
            time.sleep(0.001)


def cpu_seconds(pids: Iterable[int]) -> float:
    """Return the CPU time that these processes have used, with all of their threads."""
    ticks = [int(stat[11]) + int(stat[12]) for pid in pids if (stat := stat_of(pid))]
    return sum(ticks) / TICKS


def threads(pids: Iterable[int]) -> list[int]:
    """Return the ids of all threads of these processes."""
    found: list[int] = []
    for pid in pids:
        with contextlib.suppress(OSError):
            found += [int(thread.name) for thread in (PROC / str(pid) / "task").iterdir()]
    return found


def cores(pids: Iterable[int]) -> int:
    """Return the number of CPUs on which the threads of these processes may run."""
    usable: set[int] = set()
    for thread in threads(pids):
        with contextlib.suppress(OSError):
            usable |= os.sched_getaffinity(thread)
    return len(usable)


def ranking(pid: int) -> set[tuple[int, int]]:
    """Return the scheduling policies and nice values of a process's threads."""
    found = set()
    for thread in threads([pid]):
        with contextlib.suppress(OSError):
            nice = os.getpriority(os.PRIO_PROCESS, thread)
            found.add((os.sched_getscheduler(thread), nice))
    return found


def send(number: signal.Signals, pids: Iterable[int]) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
