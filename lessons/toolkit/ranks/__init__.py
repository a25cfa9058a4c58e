"""Several ranks: each one's share of a list, and collectives to try without starting MPI."""

from lessons.toolkit.ranks.distribution import DataDistributionError, DataDistributor
from lessons.toolkit.ranks.simulated_ranks import Hang, SameArray, run_on_ranks

__all__ = ["DataDistributionError", "DataDistributor", "Hang", "SameArray", "run_on_ranks"]
