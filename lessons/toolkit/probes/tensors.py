"""Count the bytes that a ring needs in tensor parallelism."""

import itertools
from collections.abc import Sequence


def ring_bytes(way: str, sizes: Sequence[int], batch: int, ranks: int, itemsize: int) -> float:
    """Return the bytes that a rank receives in one step of `tensor_parallel.py`."""
    if way == "data":
        numbers = sum((i + 1) * o for i, o in itertools.pairwise(sizes))
    else:
        between = list(sizes[2:-1:2])
        numbers = batch * (2 * sum(between) + sizes[-1])
    return 2 * (ranks - 1) / ranks * numbers * itemsize


def bytes_off(
    came: float | None, sizes: Sequence[int], batch: int, ranks: int, itemsize: int
) -> float | None:
    """Return by which share the bytes that came in a step differ from those of cut layers."""
    if came is None:
        return None
    return abs(came / ring_bytes("tensor", sizes, batch, ranks, itemsize) - 1)
