"""Test exchanges: whether the sums are right, how much data is moved, and what overlaps."""

import math
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from lessons.toolkit.probes.refusal import tell
from lessons.toolkit.ranks import run_on_ranks

PATIENCE = 5.0  # seconds that a late rank waits for the rank that should not wait for it


def largest_error(found: Any, exact: Sequence[Any]) -> float:
    """Return the largest difference between two lists of arrays, relative to the largest number.

    It is inf if an array is missing, has the wrong shape, or contains a value that is not a finite
    number.
    """
    try:
        pairs = [(np.asarray(f, float), np.asarray(e)) for f, e in zip(found, exact, strict=True)]
    except (TypeError, ValueError):
        return math.inf
    if any(one.shape != other.shape for one, other in pairs):
        return math.inf
    errors = [float(np.abs(one - other).max(initial=0)) for one, other in pairs]
    largest = max((float(np.abs(other).max(initial=0)) for _, other in pairs), default=0.0)
    return max(errors, default=0.0) / (largest or 1.0) if np.isfinite(errors).all() else math.inf


def arrays_moved(allreduce: Callable[..., Any], ranks: int = 4) -> float:
    """Return the bytes that the busiest simulated rank moves, as a multiple of the array's size.

    The result is NaN if a rank does not end up with the sum, or if the function cannot run on
    simulated ranks.
    """
    rng = np.random.default_rng()
    values = [rng.integers(-99, 100, 240 * ranks).astype(float) for _ in range(ranks)]
    exact = np.sum(values, axis=0)
    try:
        moved = run_on_ranks(allreduce, values).busiest
    except Exception as raised:
        tell("arrays moved", raised)
        return math.nan
    right = all(largest_error([found], [exact]) == 0 for found in values)
    return moved / exact.nbytes if right else math.nan


def half_a_ring(comm: Any, values: np.ndarray) -> None:
    """Add chunks up as a ring's first half does, and pass the finished ones to nobody."""
    chunks = np.array_split(values, comm.size)
    received = np.empty_like(chunks[0])
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    for number in range(comm.size - 1):
        give = chunks[(comm.rank - number) % comm.size]
        take = chunks[(comm.rank - number - 1) % comm.size]
        comm.Sendrecv(give, dest=right, recvbuf=received[: take.size], source=left)
        take += received[: take.size]


def under_way(overlapped: Callable[..., Any], arrays: int = 3) -> float:
    """Return how many sums rank 0 has started by the time it computes its last array.

    Two ranks are simulated, and rank 1 has not yet computed its first array. The result is 0 if
    rank 0 waits for rank 1.
    """
    begun, at_the_last = threading.Event(), threading.Event()
    seen = [0]

    def computed(comm: Any) -> Iterator[np.ndarray]:
        for number in range(arrays):
            if comm.Get_rank() == 1 and number == 0:
                at_the_last.wait(PATIENCE)
                begun.set()
            if comm.Get_rank() == 0 and number == arrays - 1:
                seen[0] = 0 if begun.is_set() else comm.collectives
                at_the_last.set()
            yield np.ones(2)

    try:
        run_on_ranks(lambda comm, _: overlapped(comm, computed(comm)), [None, None])
    except Exception as raised:
        tell("sums under way", raised)
        return math.nan
    return float(seen[0])
