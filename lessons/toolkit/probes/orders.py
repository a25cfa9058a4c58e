"""Test whether a reading order is the one that a DistributedSampler draws for each epoch.

Counting different orders is not enough, because a list that is shifted by one image per epoch is
also different each time. The program's function is therefore called with unfamiliar samplers, for
one rank and for several. The returned orders are compared with those of the samplers after
`set_epoch`. The package does not import this module, because it needs PyTorch.
"""

from collections.abc import Callable
from typing import Any

from torch.utils.data import DistributedSampler

from lessons.toolkit.probes.refusal import tell

IMAGES: Any = range(53)  # not a multiple of the ranks: samplers read some images twice
RANKS, EPOCHS = (1, 2, 3), (1, 2, 7)


def orders_as_drawn(order_of: Callable[[Any, int], Any], seed: int) -> float:
    """Return the fraction of ranks and epochs in which the order equals the sampler's."""
    right = []
    for size in RANKS:
        for rank in range(size):
            given: Any = DistributedSampler(IMAGES, size, rank, seed=seed + 77)
            own: Any = DistributedSampler(IMAGES, size, rank, seed=seed + 77)
            for epoch in EPOCHS:
                own.set_epoch(epoch)
                try:
                    right.append([int(number) for number in order_of(given, epoch)] == list(own))
                except Exception as raised:
                    tell("the order of reading", raised)
                    return 0.0
    return sum(right) / len(right)
