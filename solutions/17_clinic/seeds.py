"""Exercise 17.4: random numbers of a loader's workers, on all ranks, in all epochs."""

import numpy as np
from torch.utils.data import DataLoader, Dataset, get_worker_info


class Crops(Dataset):
    """Images that are cut at a random place: each item is the place alone, to look at it."""

    def __init__(self, images, seed, rank):
        self.images, self.seed, self.rank, self.epoch = images, seed, rank, 0
        self.random = np.random.default_rng(seed)  # every worker process gets a copy of it

    def __len__(self):
        return self.images

    def __getitem__(self, number):
        return self.random.random()


def start_worker(worker):
    """Give a worker process random numbers of its own, which a second run draws again."""
    crops = get_worker_info().dataset
    ### BEGIN SOLUTION Exercise 17.4: random numbers of its own
    crops.random = np.random.default_rng([crops.seed, crops.epoch, crops.rank, worker])
    ### END SOLUTION


def places(crops, epoch, workers=2, batch_size=4):
    """Return the places of an epoch's crops. The loader starts its workers in each epoch."""
    crops.epoch = epoch
    loader = DataLoader(crops, batch_size, num_workers=workers, worker_init_fn=start_worker)
    return [place for batch in loader for place in batch.tolist()]
