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
    """One rank's code has ended its process while other ranks still need it."""

    def __init__(self, rank: int) -> None:
        super().__init__(
            f"Rank {rank}: its code ended the program, but other ranks went on. Look for a "
            "sys.exit() that only some ranks reach."
        )


LEFT = {"left": True}  # what a rank sends to rank 0 when its code has ended its process


class Channel:
    """A connection to another process."""

    rank = 0  # of the other process; rank 0 changes it in its channels to the others

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
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
