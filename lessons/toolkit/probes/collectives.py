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
    """Leave what a ring's first half leaves: of chunk c, the sum over rank c to this one."""
    everyone = [np.array_split(other, comm.size) for other in comm.allgather(values)]
    for first, chunk in enumerate(np.array_split(values, comm.size)):
        added = range(first, first + (comm.rank - first) % comm.size + 1)
        chunk[:] = sum(everyone[rank % comm.size][first] for rank in added)
