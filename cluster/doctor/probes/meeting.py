"""Contact the first node from one process per node: check reachability, speed and clocks."""

import json
import os
import socket
import struct
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from cluster.doctor.diagnosis import Diagnosis, broken, look, ok
from cluster.doctor.position import Position
from cluster.doctor.probes.network import address_of_this_node

ROUNDS = 30
STREAM = 64 * 2**20  # bytes
CHUNK = 2**20
WRONG = (
    "the first node's name resolves to an address that other nodes cannot reach: set"
    " GLOO_SOCKET_IFNAME and NCCL_SOCKET_IFNAME in the site file"
)


def meet(position: Position) -> Iterator[Diagnosis]:
    file = Path(position.folder) / "meeting.json"
    if position.rank == 0:
        receive(file, len(position.nodes) - 1)
    else:
        yield from visit(file, position)


def receive(file: Path, visitors: int) -> None:
    with socket.create_server((address_of_this_node(), 0)) as server:
        host, port = server.getsockname()
        new = file.with_suffix(".new")
        new.write_text(json.dumps({"address": host, "port": port}))
        new.replace(file)
        for _ in range(visitors):
            guest, _ = server.accept()
            with guest:
                guest.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                for _ in range(ROUNDS):
                    guest.recv(1)
                    guest.sendall(struct.pack("d", time.time()))
                left = STREAM
                while left and (got := len(guest.recv(CHUNK))):
                    left -= got
                guest.sendall(b"!")


def visit(file: Path, position: Position) -> Iterator[Diagnosis]:
    while not file.is_file():
        time.sleep(0.05)
        os.listdir(file.parent)  # makes a network file system refresh
    first = json.loads(file.read_text())
    host = position.nodes[0]
    try:
        guest = socket.create_connection((first["address"], first["port"]), timeout=10)
    except OSError as error:
        yield broken(
            f"{host} cannot be reached at {first['address']}: {error.strerror or error}",
            WRONG,
        )
        return
    with guest:
        guest.settimeout(None)
        guest.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        trips = [ask(guest) for _ in range(ROUNDS)]
        start = time.perf_counter()
        piece = bytes(CHUNK)
        for _ in range(STREAM // CHUNK):
            guest.sendall(piece)
        guest.recv(1)
        rate = STREAM / (time.perf_counter() - start) / 1e9
    trip, skew = min(trips)
    yield ok(
        f"to {host} ({first['address']}): {trip * 1e6:.0f} µs there and back,"
        f" {rate:.2f} GB/s over one TCP connection",
        round_trip=trip,
        gb_s=rate,
    )
    words = f"{abs(skew) * 1000:.1f} ms {'behind' if skew > 0 else 'ahead of'} {host}'s"
    clock = (
        look(
            words,
            "times in the logs of different nodes do not agree: tell the site's support",
            skew=skew,
        )
        if abs(skew) > 0.1 + trip
        else ok(words, skew=skew)
    )
    yield replace(clock, probe="clock")


def ask(guest: socket.socket) -> tuple[float, float]:
    """Return the round-trip time in seconds, and how far ahead the other clock is.

    The shortest round trip gives the most accurate difference of the clocks.
    """
    left, start = time.time(), time.perf_counter()
    guest.sendall(b"?")
    theirs = struct.unpack("d", guest.recv(8, socket.MSG_WAITALL))[0]
    trip = time.perf_counter() - start
    return trip, theirs - (left + trip / 2)
