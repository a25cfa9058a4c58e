"""Find out which launcher started this process, and which rank it is.

Every rank of a training run calls this, so the module has few imports.
"""

import os
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


TORCH = (("RANK",), ("LOCAL_RANK",), ("WORLD_SIZE",))
# Innermost first, because srun may have started torchrun, and starts Open MPI's daemons.
LAUNCHERS = (
    Launcher("torchrun", "TORCHELASTIC_RUN_ID", *TORCH),
    Launcher("horovodrun", "", ("HOROVOD_RANK",), ("HOROVOD_LOCAL_RANK",), ("HOROVOD_SIZE",)),
    Launcher(
        *("mpirun", "", ("OMPI_COMM_WORLD_RANK",)),
        *(("OMPI_COMM_WORLD_LOCAL_RANK",), ("OMPI_COMM_WORLD_SIZE",)),
    ),
    Launcher(
        *("mpiexec", "", ("PMI_RANK", "PALS_RANKID")),
        *(("MPI_LOCALRANKID", "PALS_LOCAL_RANKID"), ("PMI_SIZE", "PALS_SIZE")),
    ),
    # SLURM_NTASKS is also set in the batch script, where no ranks have been started yet.
    Launcher("srun", "", ("SLURM_PROCID",), ("SLURM_LOCALID",), ("SLURM_STEP_NUM_TASKS",)),
    Launcher("torchrun", "", *TORCH),  # torch.distributed's names, set by hand or by a library
)
VARIABLES = frozenset(
    name for each in LAUNCHERS for name in (each.mark, *each.rank, *each.local_rank, *each.size)
) - {""}
NO_STEP = 2**32 - 16  # these steps only: the batch script itself, or a shell inside `salloc`


@dataclass(frozen=True)
class LaunchedAs:
    launcher: str
    rank: int
    local_rank: int
    size: int


def launched(environ: Environ = os.environ) -> LaunchedAs | None:
    """Return this process's launcher, rank and size; None if the environment shows no launcher."""
    for each in LAUNCHERS:
        size = number(environ, each.size)
        if size is None or (each.mark and each.mark not in environ):
            continue
        name = each.name
        if name == "mpiexec" and number(environ, ("SLURM_STEP_NUM_TASKS",)) == size:
            name = "srun"  # --mpi=pmi2 sets these names too
        if name == "srun" and (number(environ, ("SLURM_STEP_ID",)) or 0) >= NO_STEP:
            continue
        rank, local_rank = number(environ, each.rank), number(environ, each.local_rank)
        return LaunchedAs(name, rank or 0, local_rank or 0, size)
    return None


def number(environ: Environ, names: tuple[str, ...]) -> int | None:
    return next((int(environ[name]) for name in names if environ.get(name, "").isdecimal()), None)
