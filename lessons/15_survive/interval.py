"""Compute the best time between checkpoints."""


def best_interval(write_s, node_mtbf_s, nodes):
    """Return the seconds between two checkpoints that waste the least time.

    write_s: seconds that training stops for a checkpoint. node_mtbf_s: mean time between two
    failures of one node. nodes: how many the job has; it dies with any of them.
    """
    raise NotImplementedError(
        "Exercise 15.7: the MTBF of the job, then the formula of Young and Daly"
    )
