"""Collect the values of all ranks."""

from typing import Any


def gathered(dist: Any, value: Any) -> list[Any]:
    """Return the values of all ranks, on every rank.

    dist: the program's torch.distributed. All ranks call this.
    """
    values: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(values, value)
    return values
