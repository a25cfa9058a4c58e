"""Find out which launcher started this process, and which rank it is.

Every rank of a training run calls this, so the module has few imports.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass

Environ = Mapping[str, str]


@dataclass(frozen=True)
class Launcher:
    """The variables that a launcher sets.

    If several variables are possible, the first one that holds a number is used.
    """

    name: str
    mark: str  # the launcher always sets it; "": the size is enough
    rank: tuple[str, ...]
    local_rank: tuple[str, ...]  # rank among those on the same node
    size: tuple[str, ...]
    local_size: tuple[str, ...]


TORCH = (("RANK",), ("LOCAL_RANK",), ("WORLD_SIZE",), ("LOCAL_WORLD_SIZE",))
STEP_SIZE = ("SLURM_STEP_NUM_TASKS",)
# Innermost first, because srun may have started torchrun, and starts Open MPI's daemons.
LAUNCHERS = (
    Launcher("torchrun", "TORCHELASTIC_RUN_ID", *TORCH),
    Launcher(
        *("horovodrun", "", ("HOROVOD_RANK",), ("HOROVOD_LOCAL_RANK",)),
        *(("HOROVOD_SIZE",), ("HOROVOD_LOCAL_SIZE",)),
    ),
    Launcher(
        *("mpirun", "", ("OMPI_COMM_WORLD_RANK",), ("OMPI_COMM_WORLD_LOCAL_RANK",)),
        *(("OMPI_COMM_WORLD_SIZE",), ("OMPI_COMM_WORLD_LOCAL_SIZE",)),
    ),
    # Hydra's in MPICH and Intel MPI, and PALS'.
    Launcher(
        *("mpiexec", "", ("PMI_RANK",), ("MPI_LOCALRANKID", "PMI_LOCAL_RANK", "PALS_LOCAL_RANKID")),
        *(("PMI_SIZE",), ("MPI_LOCALNRANKS", "PMI_LOCAL_SIZE", "PALS_LOCAL_SIZE")),
    ),
    # SLURM_NTASKS is also set in the batch script, where no ranks have been started yet.
    Launcher("srun", "", ("SLURM_PROCID",), ("SLURM_LOCALID",), STEP_SIZE, ()),
    Launcher("torchrun", "", *TORCH),  # torch.distributed's names, set by hand or by a library
)
NO_STEP = 2**32 - 16  # these steps only: the batch script itself, or a shell inside `salloc`


@dataclass(frozen=True)
class LaunchedAs:
    launcher: str
    rank: int
    local_rank: int
    size: int
    local_size: int = 1  # ranks on this node; at least so many, if the launcher does not say


def launched(environ: Environ = os.environ) -> LaunchedAs | None:
    """Return this process's launcher, rank and size; None if the environment shows no launcher."""
    for each in LAUNCHERS:
        size = number(environ, each.size)
        if size is None or (each.mark and each.mark not in environ):
            continue
        if each.name == "mpiexec" and number(environ, STEP_SIZE) == size:
            continue  # srun sets the PMI's rank and size too (pmi2, psslurm), but no local rank
        if each.name == "srun" and (number(environ, ("SLURM_STEP_ID",)) or 0) >= NO_STEP:
            continue
        rank, local_rank = number(environ, each.rank) or 0, number(environ, each.local_rank) or 0
        of_node = number(environ, each.local_size) if each.local_size else tasks_of_node(environ)
        return LaunchedAs(each.name, rank, local_rank, size, of_node or local_rank + 1)
    return None


def tasks_of_node(environ: Environ) -> int | None:
    """Return the number of srun's tasks on this node, from a list such as 4(x2),3."""
    node, counts = number(environ, ("SLURM_NODEID",)), list[int]()
    per_node = environ.get("SLURM_STEP_TASKS_PER_NODE", "")
    for tasks, nodes in re.findall(r"(\d+)(?:\(x(\d+)\))?", per_node):
        counts += [int(tasks)] * int(nodes or 1)
    return counts[node] if node is not None and node < len(counts) else None


def number(environ: Environ, names: tuple[str, ...]) -> int | None:
    return next((int(environ[name]) for name in names if environ.get(name, "").isdecimal()), None)
