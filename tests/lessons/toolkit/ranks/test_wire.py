"""Tests of the bytes on this process's connections, as the kernel counts them."""

import socket

import pytest

from lessons.toolkit.ranks.wire import bytes_received


@pytest.fixture
def pair():
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname()) as one,
        server.accept()[0] as other,
    ):
        yield one, other


def take(connection, size):
    while size:
        size -= len(connection.recv(min(size, 1 << 16)))


def test_what_comes_in_is_counted_to_the_byte(pair):
    one, other = pair
    before = bytes_received()
    assert before is not None, "Linux tells the bytes of a connection since 4.2"
    for size in (1, 1000, 300_000):
        other.sendall(b"x" * 10)  # what goes out on one comes in on the other: both are ours
        one.settimeout(10)
        take(one, 10)
        sent = 0
        while sent < size:
            piece = min(size - sent, 1 << 14)
            one.sendall(b"x" * piece)
            take(other, piece)
            sent += piece
    assert bytes_received() - before == 30 + 1 + 1000 + 300_000
