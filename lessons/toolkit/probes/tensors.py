"""Count the bytes that a ring needs in tensor parallelism."""

from collections.abc import Sequence


def bytes_off(
    came: float | None, sizes: Sequence[int], batch: int, ranks: int, itemsize: int
) -> float | None:
    """Return by which share the bytes that came in a step differ from those of cut layers."""
    if came is None:
        return None
    numbers = batch * (2 * sum(sizes[2:-1:2]) + sizes[-1])  # forward and backward; not the images
    return abs(came / (2 * (ranks - 1) / ranks * numbers * itemsize) - 1)
