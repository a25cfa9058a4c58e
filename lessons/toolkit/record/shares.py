"""Describe the samples that a rank reads: their number, a hash, and a few slices."""

import hashlib
from array import array
from collections.abc import Iterable
from typing import Any

from lessons.toolkit.record.run_record import plain


def share(shard: Iterable[Any] | None, samples: int | None) -> dict[str, Any]:
    """Return the number of samples that a rank reads, and a hash of their indices.

    If the shard is a slice, also return the slice.
    """
    if shard is None:
        return {"samples": samples, "shard_ids_hash": None if samples is None else "all"}
    ids = numbers(shard, samples)
    found = ids_hash(ids, samples)
    if isinstance(shard, tuple | slice):
        return {**found, "shard": slice_of(shard, samples)}
    if found["shard_ids_hash"] != "all" and (slices := blocks(ids)):
        found["slices"] = slices
    return found


def numbers(shard: Iterable[Any], samples: int | None) -> list[Any]:
    """Return the indices or names of a rank's samples in ascending order."""
    if isinstance(shard, tuple | slice):
        return list(range(*slice_of(shard, samples)))
    return sorted(set(plain(shard if hasattr(shard, "tolist") else list(shard))))


def slice_of(shard: Any, samples: int | None) -> list[int]:
    start, stop, step = (shard.start, shard.stop, shard.step) if isinstance(shard, slice) else shard
    stop = samples if stop is None else stop
    if stop is None:
        raise ValueError("Run(shard=(start, None, step)) needs a dataset or samples=.")
    return [int(start or 0), int(stop), int(step or 1)]


def ids_hash(ids: list[Any], samples: int | None) -> dict[str, Any]:
    if ids == list(range(samples or 0)):
        return {"samples": len(ids), "shard_ids_hash": "all"}
    if all(isinstance(item, int) for item in ids):
        data = array("q", ids).tobytes()
    else:
        data = "\n".join(map(str, ids)).encode()
    return {"samples": len(ids), "shard_ids_hash": hashlib.blake2b(data).hexdigest()[:16]}


def blocks(ids: list[Any], most: int = 32) -> list[list[int]] | None:
    """Return sorted indices as blocks [start, stop, 1]; None if there are too many blocks."""
    found: list[list[int]] = []
    for number in ids:
        if not isinstance(number, int):
            return None
        if found and number == found[-1][1]:
            found[-1][1] += 1
        elif len(found) == most:
            return None
        else:
            found.append([number, number + 1, 1])
    return found
