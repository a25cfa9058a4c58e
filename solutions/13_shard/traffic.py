"""Bytes that cross from node to node, by arithmetic."""


def into_node(size, nodes, ranks, way):
    """Return the bytes that the ranks of one node together receive from other nodes in a step.

    size: bytes of all parameters, or of all gradients. nodes: how many, each with so many `ranks`.
    way: "fsdp" shards over all ranks, "hsdp" over the ranks of each node. Every collective is a
    ring, in the order of the ranks. As with Gloo, a reduce-scatter costs a whole allreduce.
    """
    ### BEGIN SOLUTION Exercise 13.6: which rings leave the node, and what does one bring into it?
    if way == "hsdp":  # `ranks` rings, one per part: each is an allreduce of size / ranks
        return 2 * (nodes - 1) / nodes * size
    everyone = nodes * ranks  # one ring enters a node once: two gathers, and Gloo's allreduce
    return 4 * (everyone - 1) / everyone * size
    ### END SOLUTION
