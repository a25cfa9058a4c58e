"""Count the bytes received over the network, as the kernel counts them.

The kernel counts the bytes of each of this process's connections, so no program has to be trusted.
Gloo, MPI over TCP and everything else that uses sockets is counted, including the protocol's own
bytes. NVLink, InfiniBand and shared memory are not counted.
"""

import contextlib
import os
import socket
import stat
import struct
import sys
from collections.abc import Callable
from typing import Any

TCP_INFO = getattr(socket, "TCP_INFO", 11)
RECEIVED = 128  # offset of tcpi_bytes_received in the kernel's struct tcp_info, since Linux 4.1
Ends = tuple[Any, Any]  # own address and the peer's; a listening socket has no peer


def received_during(work: Callable[[], Any]) -> tuple[Any, int | None]:
    """Return the result of `work`, and the bytes received meanwhile, or None."""
    before, result, after = bytes_received(), work(), bytes_received()
    return result, None if before is None or after is None else after - before


def bytes_received() -> int | None:
    """Return the bytes received on the connections that are open now.

    Return None if the kernel does not report this number, and with NCCL, which uses no sockets.
    """
    dist = sys.modules.get("torch.distributed")
    if dist is not None and dist.is_initialized() and dist.get_backend() != "gloo":
        return None
    found = connections()
    return sum(received for _, received in found) if found else None


def connections() -> list[tuple[Ends, int]]:
    """Return the ends of all TCP connections that are open now, and the bytes received on each."""
    try:
        numbers = [int(name) for name in os.listdir("/proc/self/fd")]
    except OSError:
        return []
    return [each for number in numbers if (each := of_connection(number)) is not None]


def of_connection(number: int) -> tuple[Ends, int] | None:
    """Return the ends of a connection and the bytes received, if descriptor `number` is TCP."""
    try:
        if not stat.S_ISSOCK(os.fstat(number).st_mode):
            return None
        copy = os.dup(number)  # it is closed below; the program's own stays open
    except OSError:  # closed meanwhile
        return None
    try:
        connection = socket.socket(fileno=copy)
    except OSError:
        os.close(copy)
        return None
    with connection:
        if connection.family not in (socket.AF_INET, socket.AF_INET6):
            return None
        peer = None
        try:
            with contextlib.suppress(OSError):  # of sockets that listen
                peer = connection.getpeername()
            told = connection.getsockopt(socket.IPPROTO_TCP, TCP_INFO, 256)
        except OSError:
            return None
        own = connection.getsockname()
    if len(told) < RECEIVED + 8:
        return None
    return (own, peer), int(struct.unpack_from("Q", told, RECEIVED)[0])
