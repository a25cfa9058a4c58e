"""A Horovod that says it is one rank of several, with nobody at the other end; for checks."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

from lessons.toolkit.checks.check import CheckFailed


class Pretend:
    """Notes what it is asked for, and wants to be initialised first."""

    def __init__(self, rank: int, size: int, local_rank: int) -> None:
        self.place = (rank, size, local_rank)
        self.calls: list[str] = []

    def init(self, *_: Any, **__: Any) -> None:
        self.calls.append("init")

    def told(self, which: int, name: str) -> int:
        if "init" not in self.calls:
            raise CheckFailed(
                "hvd.init() before anything else", f"hvd.{name}() first", "Begin with hvd.init()."
            )
        return self.place[which]

    def rank(self) -> int:
        return self.told(0, "rank")

    def size(self) -> int:
        return self.told(1, "size")

    def local_rank(self) -> int:
        return self.told(2, "local_rank")

    def DistributedOptimizer(self, optimizer: Any, *_: Any, **__: Any) -> Any:  # noqa: N802
        if isinstance(optimizer, str | type):
            raise CheckFailed(
                "an optimizer, made with the rate of all ranks",
                f'the word "{optimizer}"' if isinstance(optimizer, str) else "a class, not called",
                "Make it first: keras.optimizers.Adam(lr * hvd.size()), then wrap that.",
            )
        self.calls.append("DistributedOptimizer")
        return optimizer

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in NOT_HERE:
            raise AttributeError(f"there is no hvd.{name} in this exercise")
        raise CheckFailed("what this exercise needs of Horovod", f"hvd.{name}", NOT_HERE[name])


# Names that look right here and end the job.
NOT_HERE = {
    "broadcast_variables": "It is not in hvd: train.py imports it by its own name.",
    "local_size": "hvd.size() counts the ranks of all nodes, hvd.local_size() those of one.",
}


@contextmanager
def pretending(program: Any, rank: int, size: int, local_rank: int, **others: Any) -> Iterator[Any]:
    """The student's program, its `hvd` and other names replaced for a moment."""
    horovod = Pretend(rank, size, local_rank)
    with ExitStack() as stack:
        for name, value in {"hvd": horovod, **others}.items():
            stack.enter_context(mock.patch.object(program, name, value))
        yield horovod
