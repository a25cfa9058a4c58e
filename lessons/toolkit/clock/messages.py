"""Exchange messages between a speed job's processes: a JSON line, then numbers as bytes.

The learner runs the student's code, so nothing that it sends is unpickled.
"""

import json
from collections import deque
from collections.abc import Iterable
from multiprocessing.connection import Connection, wait
from typing import Any

import numpy as np

MOST_BYTES = 2**34


class EndedError(Exception):
    """The process at the other end of `channel` has ended."""

    def __init__(self, channel: "Channel") -> None:
        super().__init__()
        self.channel = channel


class LateError(Exception):
    """A message did not arrive in time."""


class LeftError(Exception):
    """The code of one rank has ended its process, and other ranks need this rank."""

    def __init__(self, rank: int) -> None:
        super().__init__(
            f"Rank {rank}: its code ended the program, but other ranks went on. Look for a "
            "sys.exit() that only some ranks reach."
        )


LEFT = {"left": True}  # what a rank sends to rank 0 when its code has ended its process


class Channel:
    """A connection to another process. rank: whose it is, if it is another rank's."""

    def __init__(self, connection: Connection, rank: int = 0) -> None:
        self.connection, self.rank = connection, rank
        self.arrived: deque[bytes] = deque()  # read while waiting for another channel

    def send(self, words: Any = None, numbers: Any = None) -> None:
        """Send `words` and, if present, `numbers`."""
        try:
            self.connection.send_bytes(json.dumps([words, numbers is not None]).encode())
            if numbers is not None:
                array = np.ascontiguousarray(numbers, np.float32)
                self.connection.send_bytes(array.data.cast("B"))
        except OSError as error:
            raise EndedError(self) from error

    def receive(self, seconds: float, others: Iterable["Channel"] = ()) -> tuple[Any, Any]:
        """Return the next words and numbers.

        Raise LateError after `seconds` seconds, EndedError if this or another channel has ended,
        and LeftError if another channel's rank has left.
        """
        words, more = json.loads(self.next(seconds, others))
        return words, np.frombuffer(self.next(seconds, others), np.float32) if more else None

    def next(self, seconds: float, others: Iterable["Channel"]) -> bytes:
        watched = {channel.connection: channel for channel in (self, *others)}
        while not self.arrived:
            ready = wait(list(watched), seconds)
            if not ready:
                raise LateError
            for connection in ready:
                try:
                    message = connection.recv_bytes(MOST_BYTES)  # type: ignore[union-attr]
                except (EOFError, OSError) as error:
                    raise EndedError(watched[connection]) from error  # type: ignore[index]
                channel = watched[connection]  # type: ignore[index]
                channel.arrived.append(message)
                if channel is not self and message == json.dumps([LEFT, False]).encode():
                    raise LeftError(channel.rank)
        return self.arrived.popleft()
