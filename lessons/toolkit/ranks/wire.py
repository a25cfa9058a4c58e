"""Bytes that came in over the network, as the kernel counts them on this process's connections.

So nobody's program has to be believed. Gloo, MPI over TCP and all else that uses sockets is counted
with what each adds for itself. NVLink, InfiniBand and memory that ranks share are not seen.
"""

import os
import socket
import stat
import struct

TCP_INFO = getattr(socket, "TCP_INFO", 11)
RECEIVED = 128  # where tcpi_bytes_received stands in the kernel's struct tcp_info, since Linux 4.1


def bytes_received() -> int | None:
    """Since the connections that are open now began; None where the kernel does not tell."""
    total, counted = 0, False
    try:
        numbers = [int(name) for name in os.listdir("/proc/self/fd")]
    except OSError:
        return None
    for number in numbers:
        received = of_connection(number)
        if received is not None:
            total, counted = total + received, True
    return total if counted else None


def of_connection(number: int) -> int | None:
    """Of the open file of this number, if it is a TCP connection."""
    try:
        if not stat.S_ISSOCK(os.fstat(number).st_mode):
            return None
        own = os.dup(number)  # it is closed below; the program's own stays open
    except OSError:  # closed meanwhile
        return None
    try:
        connection = socket.socket(fileno=own)
    except OSError:
        os.close(own)
        return None
    with connection:
        if connection.family not in (socket.AF_INET, socket.AF_INET6):
            return None
        try:
            told = connection.getsockopt(socket.IPPROTO_TCP, TCP_INFO, 256)
        except OSError:
            return None
    if len(told) < RECEIVED + 8:
        return None
    return int(struct.unpack_from("Q", told, RECEIVED)[0])
