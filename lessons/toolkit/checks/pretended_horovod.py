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
        self.calls.append("DistributedOptimizer")
        return optimizer


@contextmanager
def pretending(program: Any, rank: int, size: int, local_rank: int, **others: Any) -> Iterator[Any]:
    """The student's program, its `hvd` and other names replaced for a moment."""
    horovod = Pretend(rank, size, local_rank)
    with ExitStack() as stack:
        for name, value in {"hvd": horovod, **others}.items():
            stack.enter_context(mock.patch.object(program, name, value))
        yield horovod
