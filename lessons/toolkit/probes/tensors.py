"""Count the bytes that a ring needs in tensor parallelism."""

import itertools
from collections.abc import Sequence


def ring_bytes(way: str, sizes: Sequence[int], batch: int, ranks: int, itemsize: int) -> float:
    """Return the bytes that a rank receives in one step.

    `sizes`: the inputs and outputs of dense layers that are cut in pairs. With `data`, all
    gradients are sent. With `tensor`, the ranks exchange the output of each pair of layers in the
    forward pass. In the backward pass, the ranks exchange the gradient of each pair's input, except
    for the first pair, where it is not needed.
    """
    if way == "data":
        numbers = sum((i + 1) * o for i, o in itertools.pairwise(sizes))
    else:
        between = list(sizes[2:-1:2])
        numbers = batch * (2 * sum(between) + sizes[-1])
    return 2 * (ranks - 1) / ranks * numbers * itemsize
