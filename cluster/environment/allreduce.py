"""Average the ranks' numbers with Horovod. Print the result and what Horovod was built with.

mpirun -np 2 python allreduce.py tensorflow|torch
"""

import os
import sys
from typing import Any


def average(framework: str) -> tuple[int, int, float, str]:
    """Return rank, size, the average that this rank received, and Horovod's transports."""
    if framework == "torch":
        import horovod.torch as hvd
        import torch

        hvd.init()
        mine = torch.tensor([float(hvd.rank())])
        return hvd.rank(), hvd.size(), float(hvd.allreduce(mine)[0]), transports(hvd)
    os.environ["TF_USE_LEGACY_KERAS"] = "1"
    import horovod.tensorflow.keras as hvd

    hvd.init()
    mean = float(hvd.allreduce(float(hvd.rank())))
    return hvd.rank(), hvd.size(), mean, transports(hvd)


def transports(hvd: Any) -> str:
    built = {"MPI": hvd.mpi_built(), "Gloo": hvd.gloo_built(), "NCCL": hvd.nccl_built()}
    return " ".join(name for name, is_built in built.items() if is_built)


if __name__ == "__main__":
    line = "rank {} of {} received {}, built with {}"
    print(line.format(*average(sys.argv[1])), flush=True)
