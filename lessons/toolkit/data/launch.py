"""Read from the environment how this program was started."""

import os
from collections.abc import Mapping

from cluster.launchers import launched

JOB = ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "COBALT_JOBID", "FLUX_JOB_ID")


def size(environ: Mapping[str, str] = os.environ) -> int:
    """Return the number of ranks that the launcher started; 1 without a launcher."""
    launch = launched(environ)
    return launch.size if launch else 1


def local_rank(environ: Mapping[str, str] = os.environ) -> int:
    """Return this rank's local number on its node, or 0 if there is no launcher."""
    launch = launched(environ)
    return launch.local_rank if launch else 0


def on_compute_node(environ: Mapping[str, str] = os.environ) -> bool:
    """Return whether this is a batch job, which probably has no internet.

    Jobs of the laptop's queue run on the laptop itself.
    """
    return environ.get("COURSE_SCHEDULER") != "laptop" and any(environ.get(key) for key in JOB)
