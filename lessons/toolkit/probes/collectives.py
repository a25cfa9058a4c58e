"""Test exchanges: whether the sums are right, and what half a ring leaves."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np


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
