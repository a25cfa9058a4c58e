"""Make steps of lesson 13's ways in float64, on this rank's texts of each global batch.

torchrun --nproc-per-node=N shard_steps.py OUT.npz

OUT has the parameters of every way, and of one network that reads all texts (`serial`).
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3] / "solutions" / "13_shard"))

import numpy as np
import torch
import torch.distributed as dist

from gpt import GPT, loss_of
from train import start_ranks, train_step
from ways import ON_A_NODE, share_out

TEXTS, RATE = 12, 0.01  # texts: for 1, 2, 3 or 4 ranks
MOST = (0.3, 1e3, 0.3, 1e3, 0.3)  # every other step is clipped
OPTIONS = [  # the name of an entry in OUT, its way, and the program's options
    *((way, way, {}) for way in ON_A_NODE),
    ("hsdp", "hsdp", {"nodes": 1}),
    ("zero3 library", "zero3", {"reduce_scatter": "library"}),
    ("zero3 recompute", "zero3", {"recompute": True}),
    ("fsdp recompute", "fsdp", {"recompute": True}),
]


def network():
    torch.manual_seed(3)
    return GPT(13, length=10, layers=3, width=20, heads=4).double()  # 20: not of 3 ranks


def flat(params):
    return torch.cat([param.detach().flatten() for param in params]).numpy()


rank, size, *_ = start_ranks()
texts = torch.tensor(np.random.default_rng(5).integers(0, 13, (len(MOST), TEXTS, 11)))

serial = network()
optimizer = torch.optim.AdamW(serial.parameters(), RATE, betas=(0.9, 0.99))
norms = []
for step, most in zip(texts, MOST, strict=True):
    optimizer.zero_grad()
    loss_of(serial(step[:, :-1]), step[:, 1:]).backward()
    norms.append(float(torch.nn.utils.clip_grad_norm_(serial.parameters(), most)))
    optimizer.step()
assert min(norms) > 0.3
assert max(norms) < 1e3

found = {"serial": flat(serial.parameters())}
for name, way, options in OPTIONS:
    chosen = {"reduce_scatter": "ring", "recompute": False, "policy": "float32"} | options
    shared = share_out(way, network(), RATE, argparse.Namespace(**chosen))
    for step, most in zip(texts, MOST, strict=True):
        own = step.chunk(size)[rank]
        train_step(shared, own[:, :-1], own[:, 1:], most)
    found[name] = flat(shared.whole())
if rank == 0:
    np.savez(sys.argv[1], **found)
dist.destroy_process_group()
