"""Functions of every program of this lesson to find its ranks, whatever started them."""

import os
import sys

import torch
import torch.distributed as dist

from cluster.launchers import launched
from lessons.toolkit.ranks import enough_gpus


def who_am_i():
    """Return rank, number of ranks and local rank, as set by torchrun, mpirun or srun."""
    me = launched()
    rank, size, local_rank = (me.rank, me.size, me.local_rank) if me else (0, 1, 0)
    enough_gpus(torch.cuda.device_count())
    if size == 1:
        os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
        os.environ.setdefault("MASTER_PORT", "0")  # any free port
    if not {"MASTER_ADDR", "MASTER_PORT"} <= os.environ.keys():
        sys.exit(
            "The ranks do not know where to meet: MASTER_ADDR and MASTER_PORT are not set. The "
            "lesson's job files set them, torchrun does too."
        )
    return rank, size, local_rank


def gather(value):
    """Return a list of every rank's value, on all ranks."""
    values = [None] * dist.get_world_size()
    dist.all_gather_object(values, value)
    return values
