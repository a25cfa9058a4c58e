"""Exercise 17.2: an accuracy over all ranks that is exact to the last image."""

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader


def test_loader(images, batch_size, rank, size):
    """Return batches of this rank's share. Together, the ranks have each image once."""
    ### BEGIN SOLUTION Exercise 17.2: a loader of this rank's share
    return DataLoader(images, batch_size, sampler=range(rank, len(images), size))
    ### END SOLUTION


@torch.no_grad()
def accuracy(model, loader, device):
    """Return the share of right answers among the images of all ranks, on every rank."""
    ### BEGIN SOLUTION Exercise 17.2: the accuracy, with one reduction
    counts = torch.zeros(2, dtype=torch.int64, device=device)
    for x, y in loader:
        answers = model(x.to(device)).argmax(1)
        counts += torch.stack([(answers == y.to(device)).sum(), torch.tensor(len(y)).to(device)])
    dist.all_reduce(counts)
    right, images = counts.tolist()
    return right / images
    ### END SOLUTION
