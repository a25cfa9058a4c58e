"""The cores of this machine that jobs may use."""

import os
from pathlib import Path


def whole_cores() -> list[int]:
    """Return one CPU number for each core that this process may use.

    Hardware threads of the same core count as one.
    """
    seen: dict[str, int] = {}
    for cpu in sorted(os.sched_getaffinity(0)):
        siblings = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        try:
            core = siblings.read_text().strip()
        except OSError:
            core = str(cpu)
        seen.setdefault(core, cpu)
    return list(seen.values())
