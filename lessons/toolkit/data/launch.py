"""What the environment says about how this program was started."""

import os
from collections.abc import Mapping

from cluster.launchers import launched

JOB = ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "COBALT_JOBID", "FLUX_JOB_ID")


def size(environ: Mapping[str, str] = os.environ) -> int:
    """How many ranks the launcher started; 1 without a launcher."""
    launch = launched(environ)
    return launch.size if launch else 1


def local_rank(environ: Mapping[str, str] = os.environ) -> int:
    """Which of the ranks on this node this one is; 0 without a launcher."""
    launch = launched(environ)
    return launch.local_rank if launch else 0


def on_compute_node(environ: Mapping[str, str] = os.environ) -> bool:
    """Inside a batch job, so probably without internet. The laptop's jobs run on the laptop."""
    return environ.get("COURSE_SCHEDULER") != "laptop" and any(environ.get(key) for key in JOB)
