"""Compare vectors, join the batches of all ranks and count collectives, for this lesson's tests."""

import contextlib

import torch
import torch.distributed as dist

from ranks import gather


def flat(tensors):
    return torch.cat([each.detach().reshape(-1).cpu() for each in tensors])


def distance(found, right):
    """Return the distance of two vectors, relative to the length of the second."""
    return float((found - right).norm() / right.norm())


def everyone(tensors):
    """Return the tensors of all ranks, joined: what one process would have as its batch."""
    ranks = gather([each.detach().cpu() for each in tensors])
    return [torch.cat(each).to(tensors[0].device) for each in zip(*ranks, strict=True)]


@contextlib.contextmanager
def counted(module):
    """Count the calls of module.all_reduce in a list."""
    calls, real = [], module.all_reduce

    def all_reduce(*args, **options):
        calls.append("all_reduce")
        return real(*args, **options)

    module.all_reduce = all_reduce
    try:
        yield calls
    finally:
        module.all_reduce = real


def count_exchanges(model):
    """Return a list that gets an entry whenever DDP sends its last bucket."""
    sent = []

    def exchange(_, bucket):
        if bucket.is_last():
            sent.append(1)
        mean = bucket.buffer() / dist.get_world_size()
        return dist.all_reduce(mean, async_op=True).get_future().then(lambda done: done.value()[0])

    model.register_comm_hook(None, exchange)
    return sent
