"""One allreduce: every rank gives its number, every rank must get the average of all.

mpirun -np 2 python allreduce.py tensorflow|torch [gpu]

With `gpu` each rank takes the GPU of its local number, and NCCL carries the numbers.
"""

import os
import sys


def average(framework: str, gpu: bool) -> tuple[int, int, float]:
    """Return (rank, size, the ranks' average as this rank received it)."""
    if framework == "torch":
        import horovod.torch as hvd
        import torch

        hvd.init()
        device = torch.device("cuda", hvd.local_rank()) if gpu else torch.device("cpu")
        mine = torch.tensor([float(hvd.rank())], device=device)
        return hvd.rank(), hvd.size(), float(hvd.allreduce(mine)[0])
    os.environ["TF_USE_LEGACY_KERAS"] = "1"
    import horovod.tensorflow.keras as hvd
    import tensorflow as tf

    hvd.init()
    if gpu:
        device = tf.config.list_physical_devices("GPU")[hvd.local_rank()]
        tf.config.set_visible_devices(device, "GPU")
    return hvd.rank(), hvd.size(), float(hvd.allreduce(float(hvd.rank())))


if __name__ == "__main__":
    print("rank {} of {} received {}".format(*average(sys.argv[1], "gpu" in sys.argv)), flush=True)
