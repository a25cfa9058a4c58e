"""Run ranks as threads of this process, to try a collective without starting MPI.

Messages are never buffered: Send returns only when the other side has received, as in MPI for large
messages. An exchange that could hang therefore always hangs here. A hang is detected exactly, as
the state in which every rank waits for another one. Each rank counts the bytes that it has to move
in sequence. Sending while receiving counts once.
"""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

ANY = -1  # MPI's wildcard for sources and tags


class Hang(Exception):  # noqa: N818 - what it is, not that it is an error
    """An exchange in which every rank waits for another one."""


class SameArray(Exception):  # noqa: N818
    """An array that is sent and written to at the same time, which MPI forbids."""


class OtherRankFailed(Exception):  # noqa: N818
    """Raised on a rank that has to end because another rank failed."""


@dataclass(frozen=True)
class OnRanks:
    results: list[Any]  # what the function returned on each rank
    busiest: int  # bytes that the busiest rank moved one after another


class World:
    """The state that ranks share: messages in transit, and which rank waits for which."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.changed = threading.Condition()
        self.channels: dict[tuple[int, int], deque[Message]] = {}
        self.waiting: dict[int, tuple[Callable[[], bool], str]] = {}
        self.finished: set[int] = set()
        self.rounds: list[dict[int, Any]] = []  # collectives, in the order of their calls
        self.failure: BaseException | None = None

    def stop(self, failure: BaseException) -> None:
        self.failure = self.failure or failure
        self.changed.notify_all()

    def look_for_hang(self) -> None:
        left = set(range(self.size)) - self.finished
        if left and left == set(self.waiting) and not any(r() for r, _ in self.waiting.values()):
            self.stop(Hang("; ".join(text for _, (_, text) in sorted(self.waiting.items()))))


class Message:
    def __init__(self, content: np.ndarray) -> None:
        self.content = content
        self.received = False


class SimulatedRank:
    """The part of an mpi4py communicator that the lessons' exercises need."""

    def __init__(self, world: World, rank: int) -> None:
        self.world, self.rank, self.size = world, rank, world.size
        self.moved = 0  # bytes moved one after another
        self.sending = self.receiving = 0  # bytes whose transfers may still overlap
        self.collectives = 0

    def __getattr__(self, name: str) -> Any:
        known = "Get_rank Get_size Send Recv Sendrecv Isend Irecv Iallreduce bcast scatter"
        raise AttributeError(f"simulated ranks have only {known}, and no {name}")

    def Get_rank(self) -> int:  # noqa: N802
        return self.rank

    def Get_size(self) -> int:  # noqa: N802
        return self.size

    def Isend(self, buf: Any, dest: int, tag: int = 0) -> "Transfer":  # noqa: N802
        content = plain(buf)
        self.known(dest)
        message = Message(content)
        self.sending += content.nbytes
        with self.world.changed:
            self.world.channels.setdefault((self.rank, dest), deque()).append(message)
            self.world.changed.notify_all()

        def moved() -> None:
            alone = min(self.sending, content.nbytes)
            self.sending -= alone
            self.moved += alone
            self.receiving = max(0, self.receiving - alone)

        return Transfer(self, lambda: message.received, f"sends to rank {dest}", moved)

    def Irecv(self, buf: Any, source: int = ANY, tag: int = ANY) -> "Transfer":  # noqa: N802
        into = plain(buf)
        if source != ANY:
            self.known(source)
        self.receiving += into.nbytes
        sources = range(self.size) if source == ANY else [source]

        def ready() -> bool:
            return any(self.world.channels.get((s, self.rank)) for s in sources)

        def moved() -> None:
            with self.world.changed:
                came_from = next(s for s in sources if self.world.channels.get((s, self.rank)))
                message = self.world.channels[came_from, self.rank].popleft()
                content = message.content.reshape(-1)
                if content.size > into.size:
                    what = f"{content.size} numbers from rank {came_from} into {into.size}"
                    raise ValueError(f"message truncated: {what}")
                into.reshape(-1)[: content.size] = content
                message.received = True
                self.world.changed.notify_all()
            alone = min(self.receiving, content.nbytes)
            self.receiving = max(0, self.receiving - into.nbytes)
            self.moved += alone
            self.sending = max(0, self.sending - alone)

        name = "anybody" if source == ANY else f"rank {source}"
        return Transfer(self, ready, f"receives from {name}", moved)

    def Send(self, buf: Any, dest: int, tag: int = 0) -> None:  # noqa: N802
        self.Isend(buf, dest, tag).Wait()

    def Recv(self, buf: Any, source: int = ANY, tag: int = ANY, status: Any = None) -> None:  # noqa: N802
        self.Irecv(buf, source, tag).Wait()

    def Sendrecv(  # noqa: N802
        self, sendbuf: Any, dest: int, sendtag: int = 0, recvbuf: Any = None,
        source: int = ANY, recvtag: int = ANY, status: Any = None,
    ) -> None:  # fmt: skip
        forbid_same_array(plain(sendbuf), plain(recvbuf))
        sent = self.Isend(plain(sendbuf).copy(), dest, sendtag)
        self.Irecv(recvbuf, source, recvtag).Wait()
        sent.Wait()

    def Iallreduce(self, sendbuf: Any, recvbuf: Any, op: Any = None) -> "Transfer":  # noqa: N802
        total = plain(recvbuf)
        own = total.copy() if is_in_place(sendbuf) else plain(sendbuf).copy()
        if not is_in_place(sendbuf):
            forbid_same_array(plain(sendbuf), total)
        parts = self.take_part(own)

        def moved() -> None:
            total[...] = sum(parts[rank] for rank in range(self.size))

        return Transfer(self, lambda: len(parts) == self.size, "waits in Iallreduce", moved)

    def take_part(self, own: Any) -> dict[int, Any]:
        """Add this rank's part to its next collective, and return all ranks' parts so far."""
        number, self.collectives = self.collectives, self.collectives + 1
        with self.world.changed:
            while len(self.world.rounds) <= number:
                self.world.rounds.append({})
            parts = self.world.rounds[number]
            parts[self.rank] = own
            self.world.changed.notify_all()
        return parts

    def from_all(self, call: str, thing: Any) -> list[Any]:
        """Return what each rank passes to this collective, when all have called it."""
        parts = self.take_part((call, thing))
        Transfer(self, lambda: len(parts) == self.size, f"waits in {call}", lambda: None).Wait()
        if len(calls := {name for name, _ in parts.values()}) > 1:
            raise Hang(f"ranks call {' and '.join(sorted(calls))} at the same time")
        return [parts[rank][1] for rank in range(self.size)]

    def bcast(self, obj: Any = None, root: int = 0) -> Any:
        return self.from_all("bcast", obj)[root]

    def scatter(self, sendobj: Any = None, root: int = 0) -> Any:
        sent = self.from_all("scatter", sendobj)[root]
        if not isinstance(sent, list | tuple) or len(sent) != self.size:
            raise ValueError(f"scatter takes a list of {self.size} items, one for each rank")
        return sent[self.rank]

    def known(self, rank: int) -> None:
        if not 0 <= rank < self.size:
            raise ValueError(f"there is no rank {rank} among {self.size}")


class Transfer:
    def __init__(
        self, owner: SimulatedRank, ready: Callable[[], bool], doing: str, moved: Callable[[], None]
    ) -> None:
        self.owner, self.ready, self.doing, self.moved = owner, ready, doing, moved
        self.done = False

    def Wait(self, status: Any = None) -> None:  # noqa: N802
        if self.done:
            return
        owner, world = self.owner, self.owner.world
        with world.changed:
            world.waiting[owner.rank] = (self.ready, f"rank {owner.rank} {self.doing}")
            world.look_for_hang()
            while not self.ready():
                if world.failure:
                    raise OtherRankFailed
                world.changed.wait()
            del world.waiting[owner.rank]
        self.done = True
        self.moved()

    wait = Wait


def plain(buffer: Any) -> np.ndarray:
    """Return the array in `values`, which is either an array or `[array, MPI.FLOAT]`."""
    array = buffer[0] if isinstance(buffer, list | tuple) else buffer
    if not isinstance(array, np.ndarray):
        raise TypeError(f"Send and Recv move NumPy arrays, not {type(array).__name__}")
    if not array.flags.c_contiguous:
        raise ValueError("Send and Recv need contiguous arrays")
    return array


def is_in_place(buffer: Any) -> bool:
    """Return whether this is MPI.IN_PLACE, or None, which mpi4py treats the same.

    MPI is not started for it.
    """
    return buffer is None or type(buffer).__name__ == "InPlaceType"


def forbid_same_array(sent: np.ndarray, written: np.ndarray) -> None:
    if np.may_share_memory(sent, written):
        raise SameArray("MPI forbids sending and receiving with the same array")


def run_on_ranks(function: Callable[[Any, Any], Any], values: Sequence[Any]) -> OnRanks:
    """Call function(comm, values[rank]) on as many ranks as there are values."""
    world = World(len(values))
    ranks = [SimulatedRank(world, rank) for rank in range(len(values))]
    results: list[Any] = [None] * len(values)

    def live(comm: SimulatedRank) -> None:
        try:
            results[comm.rank] = function(comm, values[comm.rank])
        except OtherRankFailed:
            pass
        except BaseException as error:
            with world.changed:
                world.stop(error)
        finally:
            with world.changed:
                world.waiting.pop(comm.rank, None)
                world.finished.add(comm.rank)
                if not world.failure:
                    world.look_for_hang()

    threads = [threading.Thread(target=live, args=(comm,), daemon=True) for comm in ranks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if world.failure:
        raise world.failure
    return OnRanks(results, max(comm.moved for comm in ranks))
