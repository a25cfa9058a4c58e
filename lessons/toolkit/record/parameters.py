"""Describe parameters: their hash, and their change.

Each function reads the parameters in memory while training is stopped. NumPy is imported where it
is needed, because the record also serves programs without it.
"""

import hashlib
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any


def param_hash(params: Any) -> str:
    """Return a hash of all parameters' bytes.

    Parameters are arrays, tensors, or a dictionary of them, in order.
    """
    digest = hashlib.blake2b()
    for value in arrays(params):
        if value.dtype.kind == "f":
            value = value + value.dtype.type(0)  # -0.0 becomes 0.0: equal numbers have equal hashes
        digest.update(value.tobytes())
    return digest.hexdigest()[:16]


def moved(before: list[Any], params: Any) -> float:
    """Return the largest change of any parameter since `before`, an earlier list(arrays(…))."""
    changes = [
        float(abs(now - then).max()) for then, now in zip(before, arrays(params), strict=True)
    ]
    return worst(changes)


def worst(values: Iterable[float]) -> float:
    """Return the largest value. NaN counts as larger than any other."""
    return max(values, key=lambda value: (value != value, value), default=0.0)


def changed(before: list[Any], params: Any) -> int:
    """Return how many individual parameters differ from their earlier values."""
    pairs = zip(before, arrays(params), strict=True)
    return sum(int((now != then).sum()) for then, now in pairs)


def arrays(params: Any) -> Iterator[Any]:
    values: Iterable[Any] = params.values() if isinstance(params, Mapping) else params
    return (array(value) for value in values)


def array(value: Any) -> Any:
    if hasattr(value, "detach"):
        value = value.detach()
        if hasattr(value, "full_tensor"):  # PyTorch has sharded it; all ranks come here
            value = value.full_tensor()
        # A copy: a tensor that lends its memory to NumPy can no longer be resized.
        value = value.to("cpu", copy=True)
        if value.dtype == sys.modules["torch"].bfloat16:  # NumPy has no such type
            value = value.float()
    return value.numpy() if hasattr(value, "numpy") else value
