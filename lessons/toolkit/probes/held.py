"""Count the bytes that PyTorch really holds: tensors, and values kept for the backward pass."""

import weakref
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any


def bytes_of(tensors: Iterable[Any]) -> int:
    """Return the bytes of all these tensors; tensors that share memory count once."""
    return sum({place(tensor): size(tensor) for tensor in tensors}.values())


def place(tensor: Any) -> int:
    return int(tensor.untyped_storage().data_ptr())


def size(tensor: Any) -> int:
    return int(tensor.untyped_storage().nbytes())


class Kept:
    """A tensor that autograd keeps. This object is freed when autograd frees the tensor."""

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor


@contextmanager
def saved_for_backward(params: Iterable[Any]) -> Iterator[Counter[str]]:
    """Count the bytes that are kept for backward passes, during a `with` block.

    "now" is the current number, "most" the largest one. Parameters are also kept, but do not count,
    because they exist in any case.
    """
    import torch

    own = {place(param) for param in params}
    users: Counter[int] = Counter()
    seen: Counter[str] = Counter()

    def let_go(where: int, much: int) -> None:
        users[where] -= 1
        if users[where] == 0:
            seen["now"] -= much

    def pack(tensor: Any) -> Kept:
        kept, where, much = Kept(tensor), place(tensor), size(tensor)
        if where in own:
            return kept
        users[where] += 1
        if users[where] == 1:
            seen["now"] += much
            seen["most"] = max(seen["most"], seen["now"])
        weakref.finalize(kept, let_go, where, much)
        return kept

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda kept: kept.tensor):
        yield seen
