"""Tools for several ranks: shares of a list, collectives without MPI, and tests of real ranks."""

from lessons.toolkit.ranks.distribution import DataDistributionError, DataDistributor
from lessons.toolkit.ranks.gpus import enough_gpus
from lessons.toolkit.ranks.images import compare_images
from lessons.toolkit.ranks.looking import looking
from lessons.toolkit.ranks.probes import probe_steps, ranks_heard
from lessons.toolkit.ranks.simulated_ranks import Hang, SameArray, run_on_ranks

__all__ = [
    "DataDistributionError",
    "DataDistributor",
    "Hang",
    "SameArray",
    "compare_images",
    "enough_gpus",
    "looking",
    "probe_steps",
    "ranks_heard",
    "run_on_ranks",
]
