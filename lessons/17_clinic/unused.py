"""Exercise 17.1: a second head that only every second step uses."""

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class TwoHeads(nn.Module):
    """A classifier, and a head that guesses a second label in every second step."""

    def __init__(self, width=16):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(12, width), nn.ReLU())
        self.classes = nn.Linear(width, 5)
        self.second = nn.Linear(width, 3)

    def forward(self, x, with_second):
        inside = self.body(x)
        return self.classes(inside), self.second(inside) if with_second else None


def distribute(model, device):
    """Return the network, wrapped in DDP. device_ids is a list with a GPU, or None on CPUs."""
    gpus = [device] if device.type == "cuda" else None
    raise NotImplementedError(
        "Exercise 17.1: the wrapped network, which may leave parameters unused"
    )


def loss_of(model, x, labels, second_labels, with_second):
    """Return the loss of a batch: the classes', and the second head's in the steps that use it."""
    classes, second = model(x, with_second)
    loss = nn.functional.cross_entropy(classes, labels)
    if with_second:
        loss = loss + nn.functional.cross_entropy(second, second_labels)
    return loss


def train(model, optimizer, batches):
    """Make an update from each batch. The second head is used in steps 0, 2, 4 …"""
    for step, (x, labels, second_labels) in enumerate(batches):
        optimizer.zero_grad()
        loss_of(model, x, labels, second_labels, step % 2 == 0).backward()
        optimizer.step()


def make_batches(steps, images, seed):
    """Return random batches in double precision."""
    numbers = torch.Generator().manual_seed(seed)
    return [
        (
            torch.rand(images, 12, generator=numbers, dtype=torch.float64),
            torch.randint(0, 5, (images,), generator=numbers),
            torch.randint(0, 3, (images,), generator=numbers),
        )
        for _ in range(steps)
    ]
