"""Plans of a pipeline as plain lists: which stage has which layers, and its order of work."""

import itertools


def split(costs, stages):
    """Return the cuts: [0, 4, 9] gives layers 0 to 3 to stage 0, and 4 to 8 to stage 1.

    costs: of each layer, in order. Every stage gets at least one layer.
    """
    ### BEGIN SOLUTION Exercise 11.1: the cuts with which the heaviest stage is lightest
    cuts = itertools.combinations(range(1, len(costs)), stages - 1)
    bounds = ([0, *inner, len(costs)] for inner in cuts)
    return min(bounds, key=lambda ends: max(sum(costs[a:b]) for a, b in itertools.pairwise(ends)))
    ### END SOLUTION


def schedule(stages, micro_batches, kind):
    """Return each stage's order of work. kind: "gpipe" or "1f1b".

    ("F", 0) is the forward pass of micro-batch 0, ("B", 0) its backward pass.
    """
    every = range(micro_batches)
    ### BEGIN SOLUTION Exercise 11.3: gpipe: all F, then all B; 1f1b: a B as soon as there is one
    orders = []
    for stage in range(stages):
        ahead = micro_batches if kind == "gpipe" else min(micro_batches, stages - stage)
        order = [("F", k) for k in every[:ahead]]
        for k in every:
            order.append(("B", k))
            if k + ahead < micro_batches:
                order.append(("F", k + ahead))
        orders.append(order)
    return orders
    ### END SOLUTION


def grid(rank, stages, replicas):
    """Return this rank's stage and replica, and all ranks with the same layers.

    A replica's stages are neighbours: ranks 0 and 1 are a pipeline of two stages, 2 and 3 the next.
    """
    ### BEGIN SOLUTION Exercise 11.3: stage, replica, and the ranks that hold the same layers
    stage, replica = rank % stages, rank // stages
    return stage, replica, [stage + other * stages for other in range(replicas)]
    ### END SOLUTION
