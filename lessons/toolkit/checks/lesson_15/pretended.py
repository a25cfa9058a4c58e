"""Run a student's function on threads that act as the ranks of torch.distributed."""

import contextlib
import threading
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

from lessons.toolkit.checks.shared.check import CheckFailed
from lessons.toolkit.checks.shared.ranks_as_threads import Comm, Hangs, on_ranks

CALLS = ("get_rank", "get_world_size", "all_reduce", "broadcast", "broadcast_object_list")


class PretendedDist:
    """A replacement for torch.distributed, between threads that act as ranks."""

    def __init__(self) -> None:
        import torch.distributed as dist

        self.own, self.ReduceOp = threading.local(), dist.ReduceOp

    def get_rank(self) -> int:
        return int(self.own.comm.rank)

    def get_world_size(self) -> int:
        return int(self.own.comm.size)

    def all_reduce(self, tensor: Any, op: Any = None) -> None:
        import torch

        parts = torch.stack(self.own.comm.exchange("all_reduce", tensor.detach().clone()))
        known = {self.ReduceOp.MAX: parts.amax, self.ReduceOp.MIN: parts.amin}
        tensor.copy_(known.get(op, parts.sum)(0))

    def broadcast_object_list(self, objects: list[Any], src: int = 0, *_: Any, **__: Any) -> None:
        objects[:] = self.own.comm.exchange("broadcast_object_list", list(objects))[src]

    def broadcast(self, tensor: Any, src: int = 0, *_: Any, **__: Any) -> None:
        tensor.copy_(self.own.comm.exchange("broadcast", tensor.detach().clone())[src])


def on_pretended_ranks(size: int, function: Callable[[Comm], Any], hangs: str) -> list[Any]:
    """Return what function(comm) returns on each rank, with torch.distributed between the threads.

    hangs: advice if ranks wait for each other forever.
    """
    import torch.distributed as dist

    stand_in = PretendedDist()

    def on_rank(comm: Comm) -> Any:
        stand_in.own.comm = comm
        return function(comm)

    with contextlib.ExitStack() as stack:
        for name in CALLS:
            stack.enter_context(patch.object(dist, name, getattr(stand_in, name)))
        found = on_ranks(size, on_rank)
    errors = [each for each in found if isinstance(each, BaseException)]
    for error in sorted(errors, key=lambda each: isinstance(each, Hangs)):
        if isinstance(error, Hangs):
            raise CheckFailed("all ranks go on", str(error), hangs)
        raise error
    return found
