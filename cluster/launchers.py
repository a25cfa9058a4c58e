"""Who started this process as one of several, and which of them it is, as launchers tell it.

Every rank of a training asks, so this is light to import.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass

Environ = Mapping[str, str]


@dataclass(frozen=True)
class Launcher:
    """Variables that a launcher sets; of several names the first that holds a number counts."""

    name: str
    mark: str  # is set by it, or a size will do: ""
    rank: tuple[str, ...]
    local_rank: tuple[str, ...]  # among those on the same node
    size: tuple[str, ...]


TORCH = (("RANK",), ("LOCAL_RANK",), ("WORLD_SIZE",))
# Innermost first: torchrun may have been started by srun, and Open MPI's daemons are.
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
    # SLURM_NTASKS is set in the batch script too, where nobody has started ranks yet.
    Launcher("srun", "", ("SLURM_PROCID",), ("SLURM_LOCALID",), ("SLURM_STEP_NUM_TASKS",)),
    Launcher("torchrun", "", *TORCH),  # its names, set by hand or by a library
)
VARIABLES = frozenset(
    name for each in LAUNCHERS for name in (each.mark, *each.rank, *each.local_rank, *each.size)
) - {""}
NO_STEP = 2**32 - 16  # from here on: the batch script itself, a shell inside `salloc`


@dataclass(frozen=True)
class LaunchedAs:
    launcher: str
    rank: int
    local_rank: int
    size: int


def launched(environ: Environ = os.environ) -> LaunchedAs | None:
    """How this process was started as one of several; None if nobody says that it was."""
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
