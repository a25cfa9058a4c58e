"""Identify a launch, so that its ranks agree on its id without exchanging messages."""

import hashlib
import itertools
import multiprocessing
import os
import re
import warnings
from pathlib import Path
from typing import Any

from cluster.launchers import NO_STEP, Environ, launched

RECORDS = itertools.count()  # counts the records of this process
# Each launcher sets one of the first, and all are the same in all processes of a launch.
LAUNCHES = ("TORCHELASTIC_RUN_ID", "HOROVOD_GLOO_RENDEZVOUS_PORT", "PMIX_NAMESPACE", "PALS_APID")
OTHERS = (
    *("SLURM_JOB_ID", "SLURM_RESTART_COUNT", "PBS_JOBID", "MASTER_ADDR", "MASTER_PORT"),
    *("HOROVOD_GLOO_RENDEZVOUS_ADDR", "TORCHELASTIC_RESTART_COUNT"),
)


def launch_id(environ: Environ, size: int, record: int = 0) -> str:
    """Return eight hex digits that identify a launch. They are the same on all of its ranks.

    A rank that considers itself the only one gets its own, even if a launcher started it N times,
    and so do ranks whose launcher is unknown. record: of several records of the same process.
    """
    me = launched(environ) if size > 1 else None
    parent = multiprocessing.parent_process() if size > 1 else None
    parts = [str(record), *(environ.get(name, "") for name in (*LAUNCHES, *OTHERS))]
    step = environ.get("SLURM_STEP_ID", "")
    step = step if step.isdecimal() and int(step) < NO_STEP else ""
    if me and any(name in environ for name in LAUNCHES):
        pids: list[Any] = re.findall(r"-(\d+)@", environ.get("PMIX_NAMESPACE", ""))
        if "TORCHELASTIC_RUN_ID" in environ:
            pids = [os.getppid()]
            parts.append(step)
        # A launcher's process id may recur; its start does not. It may be on another node.
        parts += [me.launcher, *map(birth, pids if me.local_size == me.size else ())]
    elif me and step and me.launcher != "mpirun":  # its ranks on the first node have no step
        parts += [me.launcher, step]
    else:
        parts.append(birth(parent.pid) if parent else os.urandom(8).hex())
        if size > 1 and not parent:
            warnings.warn("Unknown launcher: each rank is a run. Pass run= to all.", stacklevel=3)
    return hashlib.blake2b("\0".join(parts).encode()).hexdigest()[:8]


def birth(pid: object) -> str:
    """Return a process's id, its start in ticks since boot, and the boot, which are its alone."""
    try:
        ticks = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{pid} {ticks} {boot}"
    except (OSError, IndexError):
        return str(pid)
