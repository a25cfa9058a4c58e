"""A replacement for torch.distributed, with threads as ranks: the calls that lesson 13 needs."""

import contextlib
import queue
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from lessons.toolkit.checks.shared.check import CheckFailed
from lessons.toolkit.checks.shared.ranks_as_threads import Comm, Hangs, on_ranks

PATIENCE = 5.0  # seconds that a rank waits for a message
KNOWN = "all_reduce, all_gather_into_tensor, isend, irecv, batch_isend_irecv and P2POp"


class Message:
    """The request object that `isend` and `irecv` return."""

    def __init__(self, finish: Callable[[], None]) -> None:
        self.finish = finish

    def wait(self) -> None:
        self.finish()


class PretendedDist:
    """A replacement for torch.distributed, with collectives and messages from rank to rank."""

    def __init__(self) -> None:
        import torch.distributed as dist

        self.own, self.ReduceOp = threading.local(), dist.ReduceOp
        self.boxes: dict[tuple[int, int], queue.Queue[Any]] = {}
        self.sent: dict[int, list[int]] = defaultdict(list)  # rank -> lengths of its messages

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"the check knows {KNOWN}, not {name}")

    def get_rank(self) -> int:
        return int(self.own.comm.rank)

    def get_world_size(self) -> int:
        return int(self.own.comm.size)

    def all_reduce(self, tensor: Any, op: Any = None) -> None:
        parts = self.own.comm.exchange("all_reduce", tensor.detach().clone())
        total = sum(parts)
        tensor.data.copy_(total / len(parts) if op == self.ReduceOp.AVG else total)

    def all_gather_into_tensor(self, output: Any, tensor: Any) -> None:
        import torch

        parts = self.own.comm.exchange("all_gather_into_tensor", tensor.detach().clone())
        output.data.copy_(torch.cat(parts))

    all_gather_single = all_gather_into_tensor  # its name since PyTorch 2.13

    def box(self, src: int, dst: int) -> queue.Queue[Any]:
        """Return the messages in transit from one rank to another.

        Two threads may call this at once. `setdefault` gives both the same queue. A `defaultdict`
        would not: the receiver would wait for a message that is in the sender's own queue.
        """
        return self.boxes.setdefault((src, dst), queue.Queue())

    def isend(self, tensor: Any, dst: int) -> Message:
        self.sent[self.get_rank()].append(tensor.numel())
        self.box(self.get_rank(), dst).put(tensor.detach().clone())
        return Message(lambda: None)

    def irecv(self, tensor: Any, src: int) -> Message:
        rank = self.get_rank()
        box = self.box(src, rank)

        def finish() -> None:
            try:
                tensor.data.copy_(box.get(timeout=PATIENCE))
            except queue.Empty:
                message = f"rank {rank} waits for a message from rank {src} forever"
                raise Hangs(message, ()) from None

        return Message(finish)

    def P2POp(self, op: Any, tensor: Any, peer: int) -> tuple[Any, Any, int]:  # noqa: N802
        return op, tensor, peer

    def batch_isend_irecv(self, messages: Any) -> list[Message]:
        return [op(tensor, peer) for op, tensor, peer in messages]


@contextlib.contextmanager
def pretended(*modules: ModuleType) -> Iterator[PretendedDist]:
    """Replace `dist` in these modules until the block ends."""
    stand_in, real = PretendedDist(), [module.dist for module in modules]
    for module in modules:
        module.dist = stand_in  # type: ignore[attr-defined]
    try:
        yield stand_in
    finally:
        for module, dist in zip(modules, real, strict=True):
            module.dist = dist  # type: ignore[attr-defined]


def results_of(stand_in: PretendedDist, size: int, work: Callable[[int], Any]) -> list[Any]:
    """Return the result of work(rank) on each rank, or raise the error of one of them."""

    def on_rank(comm: Comm) -> Any:
        stand_in.own.comm = comm
        return work(comm.rank)

    found = on_ranks(size, on_rank)
    errors = [each for each in found if isinstance(each, BaseException)]
    for error in sorted(errors, key=lambda each: isinstance(each, Hangs)):
        if isinstance(error, Hangs):
            advice = "Every rank must call the same collectives, and each message needs a receiver."
            raise CheckFailed("all ranks go on", str(error), advice)
        raise error
    return found
