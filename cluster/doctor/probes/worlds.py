"""Connect the ranks as one world, through MPI or through the launcher's own mechanism.

Each world has rank, size, Barrier and Allreduce, like mpi4py's communicator.
"""

from typing import Any


def world_of(launcher: str) -> Any:
    """Return the world. Ranks wait for each other here, so this may hang."""
    if launcher == "torchrun":
        return TorchWorld()
    if launcher == "horovodrun":
        return HorovodWorld()
    from mpi4py import MPI

    return MPI.COMM_WORLD


class TorchWorld:
    kind = "Gloo"

    def __init__(self) -> None:
        import torch
        import torch.distributed as dist

        dist.init_process_group("gloo")
        self.torch, self.dist = torch, dist
        self.rank, self.size = dist.get_rank(), dist.get_world_size()

    def Barrier(self) -> None:  # noqa: N802 - mpi4py's names
        self.dist.barrier()

    def Allreduce(self, given: Any, result: Any) -> None:  # noqa: N802
        result[:] = given
        self.dist.all_reduce(self.torch.from_numpy(result))


class HorovodWorld:
    kind = "Horovod"

    def __init__(self) -> None:
        import horovod.torch as hvd
        import torch

        hvd.init()
        self.torch, self.hvd = torch, hvd
        self.rank, self.size = hvd.rank(), hvd.size()

    def Barrier(self) -> None:  # noqa: N802
        self.hvd.barrier()

    def Allreduce(self, given: Any, result: Any) -> None:  # noqa: N802
        result[:] = given
        self.hvd.allreduce_(self.torch.from_numpy(result), op=self.hvd.Sum)
