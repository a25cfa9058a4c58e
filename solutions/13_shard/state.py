"""Bytes of a network's state on each rank, by arithmetic."""

WAYS = ("ddp", "zero1", "zero2", "zero3")


def state_bytes(params, way, ranks, precision="float32"):
    """Return {"parameters": …, "gradients": …, "optimizer": …}: bytes on one rank after backward.

    params: how many the network has. way: one of WAYS. The optimizer is Adam. precision:
    "float32", or "mixed": bfloat16 parameters and gradients, float32 copies in the optimizer.
    """
    ### BEGIN SOLUTION Exercise 13.1: bytes of a parameter in each part, and who shares which part
    item, numbers = {"float32": (4, 2), "mixed": (2, 3)}[precision]
    stage = WAYS.index(way)
    return {
        "parameters": item * params / (ranks if stage >= 3 else 1),
        "gradients": item * params / (ranks if stage >= 2 else 1),
        "optimizer": 4 * numbers * params / (ranks if stage >= 1 else 1),
    }
    ### END SOLUTION
