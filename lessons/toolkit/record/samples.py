"""Describe the samples that ranks read."""

import hashlib
from collections.abc import Sequence
from typing import Any

from lessons.toolkit.record.run_record import plain

MOST_SLICES = 32  # on a line


def numbers_of(shard: Any, known: int | None = None) -> Sequence[int] | None:
    """Return the samples of a rank in ascending order, or None if they are not known.

    shard: (start, stop, step), a range, a slice of the known samples, or numbers.
    """
    if isinstance(shard, slice):
        end = known or shard.stop
        return None if end is None else numbers_of(range(end)[shard])
    shard = range(*shard) if isinstance(shard, tuple) else shard
    if isinstance(shard, range):
        return shard if shard.step > 0 else shard[::-1]
    is_array = hasattr(shard, "tolist") or hasattr(shard, "numpy")
    return sorted(set(plain(shard if is_array else list(shard))))


def slices(numbers: Sequence[int]) -> list[list[int]] | None:
    """Return slices [start, stop, step] that are these numbers, or None if there are too many."""
    if isinstance(numbers, range):
        return [[numbers.start, numbers.stop, numbers.step]]
    found: list[list[int]] = []
    for number in numbers:
        if found and number == found[-1][1]:
            found[-1][1] += 1
        elif len(found) == MOST_SLICES:
            return None
        else:
            found.append([number, number + 1, 1])
    return found


def what_was_read(steps: list[Any]) -> dict[str, Any]:
    """Return the number of distinct samples read, the most reads of one, and the order's hash."""
    import numpy as np

    order = np.concatenate([np.asarray(step, dtype=np.int64).reshape(-1) for step in steps])
    times = np.unique(order, return_counts=True)[1]  # numbers may be wrong, and then huge
    return {
        "distinct": len(times),
        "most": int(times.max(initial=0)),
        "order": hashlib.blake2b(order.tobytes()).hexdigest()[:16],
    }
