"""Identify a launch, so that its ranks agree on its id without exchanging messages."""

import hashlib
import itertools
import multiprocessing
import os
import re
import warnings
from collections.abc import Mapping
from pathlib import Path

RECORDS = itertools.count()  # counts the records of this process
# Launchers, the innermost first, with variables that are the same in all processes of a launch and
# differ between launches. A launcher is identified by its first variable.
LAUNCHERS = {
    "torchrun": (
        *("TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT", "MASTER_ADDR", "MASTER_PORT"),
        "SLURM_STEP_ID",
    ),
    "horovodrun": ("HOROVOD_GLOO_RENDEZVOUS_PORT", "HOROVOD_GLOO_RENDEZVOUS_ADDR"),
    "mpirun": ("OMPI_COMM_WORLD_SIZE", "PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"),
    "mpiexec": ("PALS_APID",),
    "srun": ("SLURM_STEP_NUM_TASKS", "SLURM_STEP_ID", "SLURM_RESTART_COUNT"),
}
NO_LAUNCH = (
    "No known launcher started these ranks, so each counts as a separate run. Pass the same run= "
    "to all ranks: eight hex digits, new for each launch."
)


def launcher(environ: Mapping[str, str]) -> str:
    """Return the innermost launcher that the environment shows, or "none"."""
    kind = next((name for name, names in LAUNCHERS.items() if names[0] in environ), "none")
    # In a batch script, the id of the step has ten digits, and no ranks have been started yet.
    return "none" if kind == "srun" and len(environ.get("SLURM_STEP_ID", "")) > 9 else kind


def run_id(environ: Mapping[str, str], size: int) -> str:
    """Return the id of the launch. A second record of the same process gets another id."""
    launch, number = launch_id(environ, size), next(RECORDS)
    return hashlib.blake2b(f"{launch} {number}".encode()).hexdigest()[:8] if number else launch


def launch_id(environ: Mapping[str, str], size: int) -> str:
    """Return eight hex digits that identify a launch. They are the same on all of its ranks.

    The ranks agree on it without exchanging messages. A program that considers itself the only rank
    is a run of its own, even if a launcher started it N times.
    """
    kind = launcher(environ) if size > 1 else "none"
    names = ("SLURM_JOB_ID", "PBS_JOBID", *LAUNCHERS.get(kind, ()))
    values = {name: environ.get(name, "") for name in names}
    parts = [kind, *values.values()]
    parent = multiprocessing.parent_process() if size > 1 else None
    if kind == "torchrun" and environ.get("GROUP_WORLD_SIZE") == "1":
        parts.append(birth(os.getppid()))  # on one node, torchrun is the parent of all ranks
    elif kind == "mpirun" and environ.get("OMPI_COMM_WORLD_LOCAL_SIZE") == values[names[2]]:
        # The name holds mpirun's process id, which may recur; its start time does not.
        parts += [birth(int(pid)) for pid in re.findall(r"-(\d+)@", values["PMIX_NAMESPACE"])]
    elif kind == "none" and parent and parent.pid:
        parts.append(birth(parent.pid))
    elif kind == "none":  # any value that no other process has
        parts.append(os.urandom(8).hex())
        if size > 1:
            warnings.warn(NO_LAUNCH, stacklevel=4)
    return hashlib.blake2b("\0".join(parts).encode()).hexdigest()[:8]


def birth(pid: int) -> str:
    """Return the process id, its start in clock ticks since boot, and the boot's id.

    No two processes share all three.
    """
    try:
        ticks = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{pid} {ticks} {boot}"
    except (OSError, IndexError):
        return str(pid)
