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


class Channel:
    """A connection to another process."""

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

        Raise LateError after `seconds` seconds, and EndedError if this or another channel has
        ended.
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
                watched[connection].arrived.append(message)  # type: ignore[index]
        return self.arrived.popleft()
