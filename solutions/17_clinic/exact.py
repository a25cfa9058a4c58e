"""Exercise 17.2: an accuracy over all ranks in which each class counts the same."""

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader


def test_loader(images, batch_size, rank, size):
    """Return batches of this rank's share: nearly equal shares, in which each image is once."""
    ### BEGIN SOLUTION Exercise 17.2: a loader of this rank's share
    return DataLoader(images, batch_size, sampler=range(rank, len(images), size))
    ### END SOLUTION


@torch.no_grad()
def accuracy(model, loader, classes, device):
    """Return, on every rank, the mean of the classes' accuracies on all ranks' images.

    classes: how many there are.
    """
    ### BEGIN SOLUTION Exercise 17.2: the accuracy, with one reduction
    counts = torch.zeros(2, classes, dtype=torch.int64, device=device)
    for x, y in loader:
        y = y.to(device)
        right = model(x.to(device)).argmax(1) == y
        counts += torch.stack([torch.bincount(each, minlength=classes) for each in (y[right], y)])
    dist.all_reduce(counts)
    right, images = counts.double()
    return (right / images).mean().item()
    ### END SOLUTION
