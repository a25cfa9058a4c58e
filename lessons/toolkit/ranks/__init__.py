"""Tools for several ranks: shares of a list, collectives without MPI, and tests of real ranks."""

from lessons.toolkit.ranks.distribution import DataDistributionError, DataDistributor
from lessons.toolkit.ranks.gpus import enough_gpus
from lessons.toolkit.ranks.images import images_apart
from lessons.toolkit.ranks.looking import looking
from lessons.toolkit.ranks.probes import ranks_heard
from lessons.toolkit.ranks.simulated_ranks import Hang, SameArray, run_on_ranks

__all__ = [
    "DataDistributionError",
    "DataDistributor",
    "Hang",
    "SameArray",
    "enough_gpus",
    "images_apart",
    "looking",
    "ranks_heard",
    "run_on_ranks",
]
