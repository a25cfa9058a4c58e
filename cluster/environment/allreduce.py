"""One allreduce: every rank gives its number, every rank must get the average of all.

mpirun -np 2 python allreduce.py tensorflow|torch
"""

import os
import sys


def average(framework: str) -> tuple[int, int, float]:
    """Return (rank, size, the ranks' average as this rank received it)."""
    if framework == "torch":
        import horovod.torch as hvd
        import torch

        hvd.init()
        return hvd.rank(), hvd.size(), float(hvd.allreduce(torch.tensor([float(hvd.rank())]))[0])
    os.environ["TF_USE_LEGACY_KERAS"] = "1"
    import horovod.tensorflow.keras as hvd

    hvd.init()
    return hvd.rank(), hvd.size(), float(hvd.allreduce(float(hvd.rank())))


if __name__ == "__main__":
    print("rank {} of {} received {}".format(*average(sys.argv[1])), flush=True)
