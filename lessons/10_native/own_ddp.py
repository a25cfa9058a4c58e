"""DistributedDataParallel by hand: gradients leave in buckets while the backward pass goes on."""

from functools import partial

import torch
import torch.distributed as dist


def cut(parameters, bucket_mb):
    """Return the parameters as lists, in their order: a list is full at bucket_mb times 10^6 bytes.

    (DDP counts 2^20 bytes.)
    """
    buckets, free = [], 0
    for parameter in parameters:
        size = parameter.numel() * parameter.element_size()
        if size > free:
            buckets.append([])
            free = bucket_mb * 1e6
        buckets[-1].append(parameter)
        free -= size
    return buckets


class Buckets:
    """Averages a network's gradients over all ranks, a bucket at a time."""

    def __init__(self, network, bucket_mb):
        self.buckets = cut(list(network.parameters())[::-1], bucket_mb)  # the last layer first
        self.missing = [len(bucket) for bucket in self.buckets]  # gradients not yet computed
        self.sent = []  # what has left and not yet arrived
        for number, bucket in enumerate(self.buckets):
            for parameter in bucket:
                hook = partial(self.computed, number)
                parameter.register_post_accumulate_grad_hook(hook)
        raise NotImplementedError("Exercise 10.3: the same start on every rank")

    def computed(self, number, _):
        """Send a bucket once it is full. PyTorch calls this after each gradient of the bucket."""
        raise NotImplementedError(
            "Exercise 10.3: send a full bucket; receive after the last gradient"
        )

    def receive(self):
        """Replace all gradients by the ranks' means, and be ready for the next backward pass."""
        raise NotImplementedError(
            "Exercise 10.3: means in place of gradients, and all as at the start"
        )


def distribute(network, device, bucket_mb=25):
    """Return the same network. Its parameters now call the hooks of its Buckets."""
    Buckets(network, bucket_mb)
    return network


INSTEAD = {"own": distribute, "nothing": lambda network, device: network}  # of DDP: --average
