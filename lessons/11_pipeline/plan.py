"""Plans of a pipeline as plain lists: which stage has which layers, and its order of work."""

import itertools


def split(costs, stages):
    """Return the cuts: [0, 4, 9] gives layers 0 to 3 to stage 0, and 4 to 8 to stage 1.

    costs: of each layer, in order. Every stage gets at least one layer.
    """
    raise NotImplementedError("Exercise 11.1: the cuts with which the heaviest stage is lightest")


def schedule(stages, micro_batches, kind):
    """Return each stage's order of work. kind: "gpipe" or "1f1b".

    ("F", 0) is the forward pass of micro-batch 0, ("B", 0) its backward pass.
    """
    every = range(micro_batches)
    raise NotImplementedError(
        "Exercise 11.3: gpipe: all F, then all B; 1f1b: a B as soon as there is one"
    )


def grid(rank, stages, replicas):
    """Return this rank's stage and replica, and all ranks with the same layers.

    A replica's stages are neighbours: ranks 0 and 1 are a pipeline of two stages, 2 and 3 the next.
    """
    raise NotImplementedError(
        "Exercise 11.3: stage, replica, and the ranks that hold the same layers"
    )
