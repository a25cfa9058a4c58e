"""Whether an order of reading is the one that a DistributedSampler draws anew for each epoch.

A training counts different orders, and a list that is moved on by one image an epoch is different
each time too. So the program's function is asked about samplers that it does not know, of one rank
and of several, and compared with what they give once they have been told the epoch. Not loaded by
the package: it needs PyTorch.
"""

from collections.abc import Callable
from typing import Any

from torch.utils.data import DistributedSampler

from lessons.toolkit.probes.refusal import tell

IMAGES: Any = range(53)  # no multiple of the ranks: samplers read some images twice
RANKS, EPOCHS = (1, 2, 3), (1, 2, 7)


def orders_as_drawn(order_of: Callable[[Any, int], Any], seed: int) -> float:
    """The share of ranks and epochs for which the function gives what the sampler draws."""
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
