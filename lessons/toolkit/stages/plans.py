"""Check the plans of a pipeline: the split of layers, the schedule, the grid of ranks."""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from lessons.toolkit.ranks.schedules import held, timed

MOST = 1e3  # stands for a larger excess, and for one that is not a number
CASES = (  # costs of layers, stages
    ((4, 4, 4, 4), 2),
    ((8, 1, 1, 1, 1), 2),
    ((1, 1, 1, 1, 8), 2),
    ((3, 1, 4, 1, 5, 9, 2, 6), 3),
    ((2, 7, 1, 8, 2, 8), 4),
    ((5, 1, 1, 1), 4),
    ((7, 1, 9, 4, 8), 3),  # filling stages one by one gives one stage 17 instead of 12
)
SCHEDULES = ((2, 4), (3, 6), (4, 8), (4, 2), (2, 1))  # stages, micro-batches


def heaviest(costs: Sequence[float], bounds: Sequence[int]) -> float:
    return max(sum(costs[a:b]) for a, b in itertools.pairwise(bounds))


def least(costs: Sequence[float], stages: int) -> float:
    """Return the weight of the heaviest stage in the best possible split."""
    inner = itertools.combinations(range(1, len(costs)), stages - 1)
    return min(heaviest(costs, [0, *cuts, len(costs)]) for cuts in inner)


def split_excess(split: Callable[..., Any]) -> float:
    """Return by what fraction the heaviest stage exceeds that of the best possible split.

    The worst of several cases counts.
    """
    worst = 0.0
    for costs, stages in CASES:
        bounds = [int(bound) for bound in split(list(costs), stages)]
        whole = len(bounds) == stages + 1 and (bounds[0], bounds[-1]) == (0, len(costs))
        if not whole or any(a >= b for a, b in itertools.pairwise(bounds)):
            return MOST
        worst = max(worst, heaviest(costs, bounds) / least(costs, stages) - 1)
    return worst


def schedule_excess(schedule: Callable[..., Any], kind: str) -> float:
    """Return a schedule's excess time, relative to the shortest possible time.

    The shortest time is (m + p - 1) forward and backward passes. The worst of several cases counts.
    """
    worst = 0.0
    for stages, micro_batches in SCHEDULES:
        orders = [list(order) for order in schedule(stages, micro_batches, kind)]
        every = sorted((kind, k) for kind in "FB" for k in range(micro_batches))
        if len(orders) != stages or any(sorted(order) != every for order in orders):
            return MOST
        span = max(box.end for box in timed(orders))
        worst = max(worst, span / (3 * (micro_batches + stages - 1)) - 1)
    return worst


def schedule_held(schedule: Callable[..., Any], kind: str) -> float:
    """Return how many of eight micro-batches the first of four stages holds at once."""
    return float(held(schedule(4, 8, kind))[0])


def grid_wrong(grid: Callable[..., Any]) -> float:
    """Count the ranks that are in the wrong place, over several grids."""
    wrong = 0
    for stages, replicas in ((2, 2), (3, 2), (4, 1), (1, 3), (2, 4)):
        for rank in range(stages * replicas):
            stage, replica = rank % stages, rank // stages
            peers = [one for one in range(stages * replicas) if one % stages == stage]
            found = grid(rank, stages, replicas)
            wrong += tuple(found[:2]) != (stage, replica) or sorted(found[2]) != peers
    return float(wrong)
