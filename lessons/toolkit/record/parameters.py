"""A hash of trained parameters, so that ranks that ended unequal show."""

import hashlib
import sys
from collections.abc import Mapping
from typing import Any


def param_hash(params: Any) -> str:
    """Hash of the bytes of all parameters: arrays, tensors, or a dictionary of them, in order."""
    digest = hashlib.blake2b()
    for value in params.values() if isinstance(params, Mapping) else params:
        digest.update(array_bytes(value))
    return digest.hexdigest()[:16]


def array_bytes(value: Any) -> bytes:
    if hasattr(value, "detach"):  # torch; through uint8, for NumPy has no bfloat16
        torch = sys.modules["torch"]
        value = value.detach().cpu().contiguous().reshape(-1).view(torch.uint8)
    return value.numpy().tobytes() if hasattr(value, "numpy") else value.tobytes()
