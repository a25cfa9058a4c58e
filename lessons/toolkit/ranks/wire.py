"""Count the bytes received over the network, as the kernel counts them.

The kernel counts the bytes of each of this process's connections, so no program has to be trusted.
Gloo, MPI over TCP and everything else that uses sockets is counted, including the protocol's own
bytes. NVLink, InfiniBand and shared memory are not counted.
"""

import os
import socket
import stat
import struct

TCP_INFO = getattr(socket, "TCP_INFO", 11)
RECEIVED = 128  # offset of tcpi_bytes_received in the kernel's struct tcp_info, since Linux 4.1


def bytes_received() -> int | None:
    """Return the bytes received on the connections that are open now.

    Return None if the kernel does not report this number.
    """
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
    """Return the bytes received through file descriptor `number`, if it is a TCP connection."""
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
