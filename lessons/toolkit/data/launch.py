"""What the environment says about how this program was started."""

import os
from collections.abc import Mapping

SIZE = (
    "OMPI_COMM_WORLD_SIZE",
    "HOROVOD_SIZE",
    "WORLD_SIZE",
    "PMI_SIZE",
    "SLURM_STEP_NUM_TASKS",
)
LOCAL_RANK = (
    "OMPI_COMM_WORLD_LOCAL_RANK",
    "HOROVOD_LOCAL_RANK",
    "LOCAL_RANK",
    "MPI_LOCALRANKID",
    "PALS_LOCAL_RANKID",
    "SLURM_LOCALID",
)
JOB = ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "COBALT_JOBID", "FLUX_JOB_ID")


def size(environ: Mapping[str, str] = os.environ) -> int:
    """How many ranks the launcher started; 1 without a launcher."""
    return _number(environ, SIZE, 1)


def local_rank(environ: Mapping[str, str] = os.environ) -> int:
    """Which of the ranks on this node this one is; 0 without a launcher."""
    return _number(environ, LOCAL_RANK, 0)


def on_compute_node(environ: Mapping[str, str] = os.environ) -> bool:
    """Inside a batch job, so probably without internet. The laptop's jobs run on the laptop."""
    return environ.get("COURSE_SCHEDULER") != "laptop" and any(environ.get(key) for key in JOB)


def _number(environ: Mapping[str, str], names: tuple[str, ...], default: int) -> int:
    return next((int(environ[key]) for key in names if environ.get(key, "").isdecimal()), default)
