"""Run ranks as threads of one process, for checks. They exchange values in mpi4py's collectives.

A rank that waits for a message that never comes is detected within seconds.
"""

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

PATIENCE = 5.0  # seconds that a rank may wait for the others


class Hangs(Exception):  # noqa: N818 - it says what the program does
    """A rank would wait forever. The error contains the last result of the rank's `bcast`."""

    def __init__(self, said: str, received: Sequence[Any]) -> None:
        super().__init__(said)
        self.received = received


class Meeting:
    """The shared object through which ranks that run as threads exchange values."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.barrier = threading.Barrier(size)
        self.things: list[Any] = [None] * size
        self.calls: list[str] = [""] * size


class Comm:
    """One rank's communicator, with the methods of mpi4py that the exercise may use."""

    def __init__(self, meeting: Meeting, rank: int) -> None:
        self.meeting, self.rank, self.size = meeting, rank, meeting.size
        self.received: list[Any] = []

    def Get_rank(self) -> int:  # noqa: N802 - mpi4py's names
        return self.rank

    def Get_size(self) -> int:  # noqa: N802
        return self.size

    def exchange(self, call: str, thing: Any) -> list[Any]:
        meeting = self.meeting
        try:
            meeting.things[self.rank], meeting.calls[self.rank] = thing, call
            meeting.barrier.wait(PATIENCE)
            things, calls = list(meeting.things), set(meeting.calls)
            meeting.barrier.wait(PATIENCE)
        except threading.BrokenBarrierError:
            raise Hangs(f"rank {self.rank} waits in {call}() forever", self.received) from None
        if len(calls) > 1:
            said = f"ranks call {' and '.join(sorted(calls))} at the same time"
            raise Hangs(said, self.received)
        return things

    def bcast(self, thing: Any = None, root: int = 0) -> Any:
        self.received.append(self.exchange("bcast", thing)[root])
        return self.received[-1]

    def scatter(self, things: Any = None, root: int = 0) -> Any:
        sent = self.exchange("scatter", things)[root]
        if not isinstance(sent, Sequence) or len(sent) != self.size:
            raise ValueError(f"scatter takes a list of {self.size} items, one for each rank")
        return sent[self.rank]

    def gather(self, thing: Any, root: int = 0) -> Any:
        things = self.exchange("gather", thing)
        return things if self.rank == root else None

    def allgather(self, thing: Any) -> list[Any]:
        return self.exchange("allgather", thing)

    def Barrier(self) -> None:  # noqa: N802
        self.exchange("Barrier", None)

    barrier = Barrier


def on_ranks(size: int, function: Callable[..., Any]) -> list[Any]:
    """Return what `function(comm)` returns or raises on each of the `size` ranks."""
    meeting = Meeting(size)
    results: list[Any] = [None] * size

    def run(rank: int) -> None:
        try:
            results[rank] = function(Comm(meeting, rank))
        except (Exception, SystemExit) as error:  # sys.exit() ends a rank, and only that one
            results[rank] = error
        finally:
            if isinstance(results[rank], BaseException) and not isinstance(results[rank], Hangs):
                # This rank has ended. Ranks that wait for it would wait forever, so stop them now.
                leave_later.append(rank)

    leave_later: list[int] = []
    threads = [threading.Thread(target=run, args=(rank,), daemon=True) for rank in range(size)]
    for thread in threads:
        thread.start()
    until = time.monotonic() + 2
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))
    if leave_later and any(thread.is_alive() for thread in threads):
        meeting.barrier.abort()
    for thread in threads:
        thread.join(2 * PATIENCE)
    return results
