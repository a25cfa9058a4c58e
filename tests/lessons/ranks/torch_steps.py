"""Train ten steps of lesson 02's PyTorch network on this rank's part of each global batch.

    mpirun -np N python torch_steps.py out.npz       (N = 1 is the serial reference)

Every rank starts from a seed of its own: only the broadcast makes the starts alike.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3] / "solutions" / "02_serial"))

import horovod.torch as hvd
import numpy as np
import torch

from train_torch import build_model, train_step

hvd.init()
rank, size = hvd.rank(), hvd.size()
torch.manual_seed(rank)  # rank 0 alike in every run, the others not

model = build_model("mlp512")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
hvd.broadcast_parameters(model.state_dict(), root_rank=0)

rng = np.random.default_rng(7)
for _ in range(10):
    x = rng.random((24, 28, 28), dtype=np.float32)  # 24 samples: for 1, 2 or 3 ranks
    y = rng.integers(0, 10, 24)
    part = torch.tensor(x[rank::size]), torch.tensor(y[rank::size])
    train_step(model, optimizer, torch.nn.CrossEntropyLoss(), *part)

weights = torch.cat([p.detach().flatten() for p in model.parameters()])
everyone = hvd.allgather(weights.unsqueeze(0))
if rank == 0:
    np.savez(sys.argv[1], weights=everyone.numpy())
