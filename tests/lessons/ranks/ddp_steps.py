"""Train two epochs of lesson 10's DDP in float64, on this rank's part of each global batch.

    mpirun -np N python ddp_steps.py OUT.npz

OUT has the ranks' parameters after whole batches (`1`), after batches in three parts (`3`), and
after whole batches in the student's buckets (`own`). Every rank starts from a seed of its own.
"""

import datetime
import sys
from pathlib import Path

import numpy as np
import torch
from torch import nn

IMAGES, BATCH, EPOCHS, SEED = 96, 24, (1, 2), 5  # for 1, 2, 3 or 4 ranks
LOSS = nn.CrossEntropyLoss()


def images():
    rng = np.random.default_rng(7)
    return torch.tensor(rng.random((IMAGES, 20))), torch.tensor(rng.integers(0, 3, IMAGES))


def network(seed):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(20, 16), nn.ReLU(), nn.Linear(16, 3)).double()


def optimizer_of(model):
    return torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)


def flat(model):
    return torch.cat([p.detach().flatten() for p in model.parameters()]).numpy()


def serial():
    """Return the parameters of rank 0's network after the same batches, without DDP."""
    (x, y), model = images(), network(0)
    optimizer = optimizer_of(model)
    for epoch in EPOCHS:
        order = torch.randperm(IMAGES, generator=torch.Generator().manual_seed(SEED + epoch))
        for batch in order.split(BATCH):
            optimizer.zero_grad()
            LOSS(model(x[batch]), y[batch]).backward()
            optimizer.step()
    return flat(model)


def main():
    sys.path.insert(0, str(Path(__file__).parents[3] / "solutions" / "10_native"))
    import torch.distributed as dist
    from torch.utils.data import TensorDataset

    import own_ddp
    import train
    from ranks import gather, who_am_i

    rank, size, local_rank = who_am_i()
    device = train.start_ranks(rank, size, local_rank, datetime.timedelta(seconds=60))
    x, y = images()
    loader = train.make_loader(TensorDataset(x, y), BATCH // size, SEED)
    found = {}
    ways = {"1": train.distribute, "3": train.distribute, "own": own_ddp.distribute}
    for way, distribute in ways.items():
        model, parts = distribute(network(rank), device, 1e-3), 3 if way == "3" else 1
        optimizer = optimizer_of(model)
        for epoch in EPOCHS:
            train.train_epoch(model, loader, optimizer, LOSS, device, epoch, parts)
        found[way] = np.stack(gather(flat(model)))
    if rank == 0:
        np.savez(sys.argv[1], **found)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
