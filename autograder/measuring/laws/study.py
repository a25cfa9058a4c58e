"""Convert a scaling table in any unit to the cost of one unit of work at each size.

The *cost* of work is workers × time. Ideal scaling leaves the cost unchanged, so the laws need no
other quantity. The same runs give the same study in seconds, hours or images per second.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from autograder.measuring.interval import NotMeasured

KINDS = ("strong", "epoch", "weak")
# Workers; a larger number means that another column was mistaken for the sizes.
MOST_SIZES = 10_000_000


@dataclass(frozen=True, slots=True)
class Study:
    """Sizes in increasing order, with the log cost of each (the median over its repeats)."""

    sizes: tuple[int, ...]
    costs: tuple[float, ...]
    repeats: tuple[int, ...]
    spread: float | None  # standard deviation of the repeats' logarithms, over all sizes

    def speedup(self, size: int, log_cost: float) -> float:
        """Return the speedup at a size, relative to the smallest size, for this log cost."""
        return size / self.sizes[0] * math.exp(self.costs[0] - log_cost)

    @property
    def speedups(self) -> list[float]:
        """Return the speedup of each size relative to the smallest."""
        return [self.speedup(*point) for point in zip(self.sizes, self.costs, strict=True)]

    def superlinear(self) -> bool:
        """Return whether work costs less at some size than on the fewest workers.

        Differences within rounding do not count.
        """
        return min(self.costs) < self.costs[0] - 1e-9


def of_times(sizes: Sequence[int], times: Sequence[float], kind: str = "strong") -> Study:
    """Return a study of times for the same work (strong, epoch), or for work that grows (weak)."""
    if kind not in KINDS:
        raise ValueError(f"scaling is {', '.join(KINDS)}; not {kind}")
    grows = kind == "weak"
    return gathered(sizes, [t if grows else n * t for n, t in checked(sizes, times)])


def of_rates(sizes: Sequence[int], rates: Sequence[float]) -> Study:
    """Return the study for the total throughput of all workers, for any kind of scaling."""
    return gathered(sizes, [n / r for n, r in checked(sizes, rates)])


def checked(sizes: Sequence[int], values: Sequence[float]) -> list[tuple[int, float]]:
    pairs = list(zip(sizes, values, strict=True))
    for size, value in pairs:
        if size != int(size) or not 1 <= size <= MOST_SIZES:
            raise NotMeasured(f"a size is a whole number from 1 to {MOST_SIZES:,}; not {size:g}")
        if not 1e-12 < value < 1e15:  # also excludes values that are not numbers
            raise NotMeasured(
                f"the value on {int(size):,} workers has to be above 0, but is {value:g}"
            )
    return pairs


def gathered(sizes: Sequence[int], costs: Sequence[float]) -> Study:
    by_size: dict[int, list[float]] = {}
    for size, cost in sorted(zip(sizes, costs, strict=True)):
        by_size.setdefault(int(size), []).append(math.log(cost))
    repeated = [values for values in by_size.values() if len(values) > 1]
    freedom = sum(len(values) - 1 for values in repeated)
    squares = sum(float(np.var(values)) * len(values) for values in repeated)
    return Study(
        tuple(by_size),
        tuple(float(np.median(values)) for values in by_size.values()),
        tuple(len(values) for values in by_size.values()),
        math.sqrt(squares / freedom) if freedom else None,
    )
