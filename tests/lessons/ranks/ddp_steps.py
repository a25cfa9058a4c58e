"""Train two epochs of lesson 10's DDP in float64, on this rank's part of each global batch.

    mpirun -np N python ddp_steps.py out.npz [PARTS]       (N = 1 is the serial reference)

Every rank starts from a seed of its own: only DDP makes the starts alike.
"""

import datetime
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3] / "solutions" / "10_native"))

import numpy as np
import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DistributedSampler

import train
from ranks import gather, who_am_i

IMAGES, BATCH = 96, 24  # for 1, 2, 3 or 4 ranks

rank, size, local_rank = who_am_i()
device = train.start_ranks(rank, size, local_rank, datetime.timedelta(seconds=60))
torch.manual_seed(rank)  # rank 0 alike in every run, the others not
model = train.distribute(
    nn.Sequential(nn.Linear(20, 16), nn.ReLU(), nn.Linear(16, 3)).double(), device
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
rng = np.random.default_rng(7)
x, y = torch.tensor(rng.random((IMAGES, 20))), torch.tensor(rng.integers(0, 3, IMAGES))
sampler = DistributedSampler(x, size, rank, seed=5)
for epoch in (1, 2):
    for batch in train.order_of(sampler, epoch).split(BATCH // size):
        parts = int(sys.argv[2]) if len(sys.argv) > 2 else 1
        train.train_step(model, optimizer, nn.CrossEntropyLoss(), x[batch], y[batch], parts)

weights = torch.cat([p.detach().flatten() for p in model.parameters()]).numpy()
everyone = np.stack(gather(weights))
if rank == 0:
    np.savez(sys.argv[1], weights=everyone)
dist.destroy_process_group()
