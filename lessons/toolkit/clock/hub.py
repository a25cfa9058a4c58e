"""Connect the conductor of every rank to rank 0."""

import hashlib
import os
import socket
import time
from collections.abc import Mapping
from multiprocessing import AuthenticationError
from multiprocessing.connection import Connection, answer_challenge, deliver_challenge
from typing import Any

import numpy as np

from lessons.toolkit.clock.messages import LEFT, Channel, LeftError
from lessons.toolkit.record.launches import launch_id

MEET_S = 120  # seconds to wait for the other ranks at the beginning
WAIT_S = 600  # seconds to wait for another rank later

# The launchers' variables for the number of ranks on this node.
ON_THIS_NODE = ("OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "HOROVOD_LOCAL_SIZE")


class UnmetError(Exception):
    """The ranks could not connect. The message is a sentence that tells the user why."""


class Hub:
    """Collective operations of the conductors.

    All ranks call these operations in the same order.
    """

    def __init__(self, rank: int, size: int, environ: Mapping[str, str] = os.environ) -> None:
        self.rank, self.size = rank, size
        self.peers: list[Channel] = []  # rank 0: all others, by rank; the others: rank 0
        self.address = "127.0.0.1"
        if size == 1:
            return
        key = password(environ, size)
        self.address, port = meeting_place(environ, size, key)
        if rank == 0:
            self.peers = [found for _, found in sorted(accepted(port, size, key).items())]
        else:
            self.peers = [connected(self.address, port, rank, key)]

    def gather(self, words: Any = None) -> list[Any]:
        """Collect the values of all ranks, and return them on every rank."""
        if self.rank == 0:
            words = [words, *(self.hear(peer)[0] for peer in self.peers)]
        return self.exchange(words)

    def share(self, words: Any = None) -> Any:
        """Broadcast rank 0's `words`, and return them on every rank."""
        if self.rank == 0:
            for peer in self.peers:
                peer.send(words)
            return words
        return self.hear(self.peers[0])[0]

    def exchange(self, words: Any) -> Any:
        if self.rank == 0:
            return self.share(words)
        self.peers[0].send(words)
        return self.share()

    def arrays(self, array: Any) -> list[Any]:
        """Return the arrays of all ranks on rank 0, and an empty list on the other ranks."""
        if self.rank == 0:
            return [array, *(self.hear(peer)[1] for peer in self.peers)]
        self.peers[0].send(numbers=array)
        return []

    def share_array(self, array: Any) -> Any:
        """Return rank 0's array, on every rank."""
        if self.rank == 0:
            for peer in self.peers:
                peer.send(numbers=array)
            return array
        return self.hear(self.peers[0])[1]

    def mean(self, array: Any) -> Any:
        """Return the mean of the arrays of all ranks, on every rank."""
        every = self.arrays(array)
        return self.share_array(np.sum(every, axis=0, dtype=np.float32) / self.size if every else 0)

    def hear(self, peer: Channel) -> tuple[Any, Any]:
        words, numbers = peer.receive(WAIT_S, self.peers)
        if words == LEFT:
            raise LeftError(peer.rank)
        return words, numbers


def meeting_place(environ: Mapping[str, str], size: int, key: bytes) -> tuple[str, int]:
    """Return the address and the port of rank 0."""
    if environ.get("MASTER_ADDR") and environ.get("MASTER_PORT", "").isdecimal():
        return environ["MASTER_ADDR"], int(environ["MASTER_PORT"])
    if any(environ.get(name) == str(size) for name in ON_THIS_NODE):
        return "127.0.0.1", 20_000 + int.from_bytes(key[:4]) % 12_000
    raise UnmetError(
        "The ranks do not know where to meet: MASTER_ADDR and MASTER_PORT are not set. The "
        "lesson's job files set them."
    )


def password(environ: Mapping[str, str], size: int) -> bytes:
    """Return bytes that are unique to this launch, so ranks of another job cannot join it."""
    job = environ.get("SLURM_JOB_ID") or environ.get("PBS_JOBID") or ""
    return hashlib.blake2b(f"{launch_id(environ, size)} {job} {os.getuid()}".encode()).digest()


def accepted(port: int, size: int, key: bytes) -> dict[int, Channel]:
    """Accept the connections of the other ranks, and return rank 0's channels to them."""
    try:
        server = socket.create_server(("", port))
    except OSError as error:
        raise UnmetError(
            f"Rank 0 cannot use port {port} (MASTER_PORT): {error.strerror}. Submit the job again."
        ) from None
    found: dict[int, Channel] = {}
    with server:
        server.settimeout(MEET_S)
        while len(found) < size - 1:
            try:
                caller, _ = server.accept()
            except TimeoutError:
                missing = sorted(set(range(1, size)) - set(found))
                raise UnmetError(
                    f"After {MEET_S} s, rank 0 is still waiting for ranks {missing}."
                ) from None
            caller.setblocking(True)
            quick(caller)
            connection = Connection(caller.detach())
            try:
                deliver_challenge(connection, key)
                answer_challenge(connection, key)
                channel = Channel(connection)
                rank, _ = channel.receive(MEET_S)
            except (AuthenticationError, OSError, EOFError):
                connection.close()  # of another job
                continue
            channel.rank = int(rank)
            found[channel.rank] = channel
    return found


def connected(address: str, port: int, rank: int, key: bytes) -> Channel:
    """Connect to rank 0, which may still be starting, and return the channel."""
    until = time.monotonic() + MEET_S
    while True:
        try:
            caller = socket.create_connection((address, port), timeout=MEET_S)
            break
        except OSError as error:
            if time.monotonic() > until:
                raise UnmetError(
                    f"Rank {rank} cannot reach rank 0 at {address}:{port}: {error}."
                ) from None
            time.sleep(0.02)
    caller.setblocking(True)
    quick(caller)
    connection = Connection(caller.detach())
    try:
        answer_challenge(connection, key)
        deliver_challenge(connection, key)
    except (AuthenticationError, OSError, EOFError):
        raise UnmetError(
            f"Another program answers at {address}:{port}, where rank {rank} looks for rank 0. "
            "Submit the job again."
        ) from None
    channel = Channel(connection)
    channel.send(rank)
    return channel


def quick(caller: socket.socket) -> None:
    """Send short messages at once."""
    caller.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def free_port() -> int:
    """Return a port of this machine that is free at the moment."""
    with socket.create_server(("", 0)) as server:
        return int(server.getsockname()[1])
