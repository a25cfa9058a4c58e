"""Train ten steps of lesson 02's PyTorch network on this rank's part of each global batch.

    horovodrun --gloo -np N python torch_steps.py OUT.npz

Every rank starts from a seed of its own: only the broadcast makes the starts alike.
"""

import sys
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parents[1]))
from solution_programs import program

lesson = program("02_serial", "train_torch")


def start(seed):
    torch.manual_seed(seed)
    model = lesson.build_model("mlp512")
    return model, torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)


def train(model, optimizer, rank=0, size=1):
    """Return all parameters at the end."""
    rng = np.random.default_rng(7)
    for _ in range(10):
        x = rng.random((24, 28, 28), dtype=np.float32)  # 24 samples: for 1, 2 or 3 ranks
        y = rng.integers(0, 10, 24)
        part = torch.tensor(x[rank::size]), torch.tensor(y[rank::size])
        lesson.train_step(model, optimizer, torch.nn.CrossEntropyLoss(), *part)
    return torch.cat([p.detach().flatten() for p in model.parameters()])


def main():
    import horovod.torch as hvd

    hvd.init()
    model, optimizer = start(hvd.rank())  # rank 0's start is the one of a process alone
    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    weights = train(model, optimizer, hvd.rank(), hvd.size())
    everyone = hvd.allgather(weights.unsqueeze(0))
    if hvd.rank() == 0:
        np.savez(sys.argv[1], weights=everyone.numpy())


if __name__ == "__main__":
    main()
