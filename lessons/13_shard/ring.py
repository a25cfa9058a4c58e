"""Reduce-scatter: every rank gives all numbers and gets one part of their sum over all ranks."""

import torch
import torch.distributed as dist


def ring_reduce_scatter(flat):
    """This rank's part of the sum, by a ring: each message goes to the right-hand neighbour."""
    rank, size = dist.get_rank(), dist.get_world_size()
    right, left = (rank + 1) % size, (rank - 1) % size
    parts = list(flat.chunk(size))  # one per rank, all of the same length
    raise NotImplementedError(
        "Exercise 13.4: size - 1 rounds; send a part, receive one, add it to your own"
    )


def library_reduce_scatter(flat):
    """The same by PyTorch, which leaves it to Gloo or NCCL."""
    part = flat.new_empty(len(flat) // dist.get_world_size())
    dist.reduce_scatter_single(part, flat)
    return part


REDUCE_SCATTER = {"ring": ring_reduce_scatter, "library": library_reduce_scatter}
