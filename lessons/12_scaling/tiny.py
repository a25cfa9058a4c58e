"""Images and a network for probe.py that are small enough to compute every step twice."""

import torch
import torch.distributed as dist
from torch import nn

IMAGES = 53  # no number of ranks divides it, so samplers repeat images
ODD = 11  # images of a rank's batch


def images():
    """Return random images. The first pixel of image number 7 is 7."""
    generator = torch.Generator().manual_seed(3)
    x = torch.rand(IMAGES, 28, 28, generator=generator).double()
    x[:, 0, 0] = torch.arange(IMAGES)
    return x, torch.randint(0, 10, (IMAGES,), generator=generator)


def network(seed):
    """Return a small network in double precision: a mistake is larger than any rounding."""
    torch.manual_seed(seed)
    layers = nn.Flatten(), nn.Linear(784, 32), nn.ReLU(), nn.Linear(32, 10)
    return nn.Sequential(*layers).double()


def flat(tensors):
    return torch.cat([each.detach().reshape(-1).cpu() for each in tensors])


def distance(found, right, scale):
    """Return the distance of two vectors, relative to the length of a third."""
    return float((found - right).norm() / scale.norm())


def watch(inside, optimizer=None):
    """Return a list that gets the numbers of the images in each step, or in each forward pass.

    An image's number is its first pixel.
    """
    passes, steps = [], []

    def before_forward(_, inputs):
        passes.append(inputs[0].reshape(len(inputs[0]), -1)[:, 0].int().tolist())

    def after_step(*_):
        steps.append([number for each in passes for number in each])
        passes.clear()

    inside.register_forward_pre_hook(before_forward)
    if optimizer is not None:
        optimizer.register_step_post_hook(after_step)
    return steps if optimizer is not None else passes


def own_rows():
    """Return the numbers of this rank's eleven images."""
    return (dist.get_rank() * ODD + torch.arange(ODD)) % IMAGES


def all_rows():
    return torch.arange(dist.get_world_size() * ODD) % IMAGES
