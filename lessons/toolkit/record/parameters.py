"""Describe the parameters in memory, while training is stopped: their hash, and their change."""

import hashlib
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

PIECE = 2**20  # numbers


def weights(model: Any) -> list[Any]:
    """Return all parameters of a model, trainable or not, or of a list or dictionary."""
    if hasattr(model, "state_dict"):
        return list(model.parameters())
    found = getattr(model, "weights", model)
    return list(found.values() if isinstance(found, Mapping) else found or ())


def trainable(model: Any) -> list[Any]:
    """Return the trainable parameters, or none if this rank does not have all of them."""
    variables = getattr(model, "trainable_variables", None)
    params = weights(model) if variables is None else list(variables)
    return [] if any(map(is_elsewhere, params)) else params


def is_elsewhere(param: Any) -> bool:
    """Return whether PyTorch has sharded a parameter, or a program has freed its memory."""
    if hasattr(param, "full_tensor") or not hasattr(param, "untyped_storage"):
        return hasattr(param, "full_tensor")
    return bool(param.untyped_storage().nbytes() == 0 < param.numel())


def arrays(params: Iterable[Any]) -> Iterator[Any]:
    """Yield each parameter as a NumPy array."""
    for value in params:
        if hasattr(value, "detach"):
            # A copy: a tensor that lends its memory to NumPy can no longer be resized.
            value = value.detach().to("cpu", copy=True)
            if value.dtype == sys.modules["torch"].bfloat16:  # NumPy has no such type
                value = value.float()
        yield value.numpy() if hasattr(value, "numpy") else value


def pieces(arrays: Iterable[Any]) -> Iterator[Any]:
    """Yield the arrays' numbers in pieces that ranks can exchange without much memory."""
    for array in arrays:
        for start in range(0, array.size, PIECE):
            yield array.reshape(-1)[start : start + PIECE]


def param_hash(params: Iterable[Any]) -> str:
    """Return a hash of all parameters' bytes, in order."""
    digest = hashlib.blake2b()
    for value in arrays(params):
        if value.dtype.kind == "f":
            value = value + value.dtype.type(0)  # -0.0 becomes 0.0: equal numbers have equal hashes
        digest.update(value.tobytes())
    return digest.hexdigest()[:16]


def moved(before: list[Any], after: list[Any]) -> tuple[float, int]:
    """Return the largest change of any parameter, and how many parameters changed."""
    pairs = list(zip(before, after, strict=True))
    largest = worst(float(abs(new - old).max()) for old, new in pairs)
    return largest, sum(int((new != old).sum()) for old, new in pairs)


def spread(copies: Iterable[list[Any]]) -> float:
    """Return the largest difference in any parameter, from the copies of each parameter."""
    import numpy as np

    return worst(float(np.ptp(each, axis=0).max()) for each in copies)


def worst(values: Iterable[float]) -> float:
    """Return the largest value. NaN counts as larger than any other."""
    return max(values, key=lambda value: (value != value, value), default=0.0)
