"""The processors that this process may use. Light to import: training programs use it too."""

import os
from pathlib import Path


def usable_cpus() -> list[int]:
    """Return the CPUs of the job or container, if the system reports them, not all CPUs."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def whole_cores() -> list[int]:
    """Return one CPU number for each core that this process may use, not each hardware thread."""
    seen: dict[str, int] = {}
    for cpu in usable_cpus():
        siblings = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        try:
            core = siblings.read_text().strip()
        except OSError:
            core = str(cpu)
        seen.setdefault(core, cpu)
    return list(seen.values())
