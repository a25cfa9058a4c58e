"""Random images, with which a step takes as long as with real ones."""

import itertools

import torch


def batches(batch_size, seed, device):
    """Return endless batches on this device, which differ between seeds."""
    generator = torch.Generator().manual_seed(seed)
    images = torch.rand(8, batch_size, 3, 32, 32, generator=generator).to(device)
    labels = torch.randint(0, 10, (8, batch_size), generator=generator).to(device)
    return itertools.cycle(zip(images, labels, strict=True))
