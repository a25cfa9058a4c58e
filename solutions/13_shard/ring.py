"""Reduce-scatter: every rank gives all of its numbers and gets one part of their sum."""

import torch
import torch.distributed as dist


def ring_reduce_scatter(flat):
    """Return this rank's part of the sum. Each message goes to the neighbour on the right."""
    rank, size = dist.get_rank(), dist.get_world_size()
    right, left = (rank + 1) % size, (rank - 1) % size
    parts = list(flat.chunk(size))  # one per rank, all of the same length
    ### BEGIN SOLUTION Exercise 13.2: the rounds, and this rank's part
    for step in range(size - 1):
        sent, added = (rank - step - 1) % size, (rank - step - 2) % size
        received = torch.empty_like(parts[added])
        messages = [
            dist.P2POp(dist.isend, parts[sent], right),
            dist.P2POp(dist.irecv, received, left),
        ]
        for message in dist.batch_isend_irecv(messages):
            message.wait()
        parts[added] = parts[added] + received
    return parts[rank]
    ### END SOLUTION


def library_reduce_scatter(flat):
    """Return the same, computed by PyTorch with Gloo or NCCL."""
    part = flat.new_empty(len(flat) // dist.get_world_size())
    dist.reduce_scatter_tensor(part, flat)
    return part


REDUCE_SCATTER = {"ring": ring_reduce_scatter, "library": library_reduce_scatter}
