"""Compare the bytes received in tensor parallelism with the bytes that a ring needs."""

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lessons.toolkit.probes.refusal import tell


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


def bytes_off(
    came: float, way: str, sizes: Sequence[int], batch: int, ranks: int, itemsize: int
) -> float:
    """Return the relative error of the number of received bytes."""
    right = ring_bytes(way, sizes, batch, ranks, itemsize)
    return abs(came - right) / right


def bytes_error(bytes_a_step: Callable[..., Any]) -> float:
    """Return the largest relative error of a student's formula; nan if it raises an error."""
    rng, worst = np.random.default_rng(), 0.0
    for way in ("data", "tensor"):
        for ranks in (2, 3, 8):
            depth, batch = 2 * int(rng.integers(1, 5)), int(rng.integers(1, 4000))
            sizes = [int(size) for size in rng.integers(3, 900, depth + 1)]
            case = (way, sizes, batch, ranks, int(rng.choice([2, 4, 8])))
            try:
                found = float(bytes_a_step(way, list(sizes), *case[2:]))
            except Exception as raised:
                tell("the error of bytes_a_step", raised)
                return math.nan
            worst = max(worst, abs(found / ring_bytes(*case) - 1))
            if math.isnan(found):
                return math.nan
    return worst
