"""Bytes that cross from node to node, by arithmetic."""


def into_node(size, nodes, ranks, way):
    """Return the bytes that the ranks of one node together receive from other nodes in a step.

    size: bytes of all parameters, or of all gradients. nodes: how many, each with so many `ranks`.
    way: "fsdp" shards over all ranks, "hsdp" over the ranks of each node. Every collective is a
    ring, in the order of the ranks. As with Gloo, a reduce-scatter costs a whole allreduce.
    """
    raise NotImplementedError(
        "Exercise 13.6: which rings leave the node, and what does one bring into it?"
    )
