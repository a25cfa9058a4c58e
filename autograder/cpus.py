"""The processors that this process may use.

Training programs import this module, so it must be quick to import.
"""

import os
from pathlib import Path


def usable_cpus() -> list[int]:
    """Return the CPUs that this process may use, such as those of its job or container.

    If the system does not report which CPUs those are, return all CPUs.
    """
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def whole_cores() -> list[int]:
    """Return one CPU number for each core that this process may use.

    Hardware threads of the same core count as one.
    """
    seen: dict[str, int] = {}
    for cpu in usable_cpus():
        siblings = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        try:
            core = siblings.read_text().strip()
        except OSError:
            core = str(cpu)
        seen.setdefault(core, cpu)
    return list(seen.values())
