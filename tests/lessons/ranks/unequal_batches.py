"""Print how far DDP's gradient on two ranks with unequal batches is from that of the whole batch.

torchrun --nproc-per-node=2 unequal_batches.py
"""

import torch
from torch import distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def main():
    torch.manual_seed(1)
    x, y = torch.randn(40, 5), torch.randn(40, 1)
    mine = slice(30) if dist.get_rank() == 0 else slice(30, 40)
    alone, loss = nn.Linear(5, 1), nn.MSELoss()
    model = DistributedDataParallel(alone)
    loss(model(x[mine]), y[mine]).backward()
    together = alone.weight.grad.clone()
    alone.zero_grad()
    loss(alone(x), y).backward()
    if dist.get_rank() == 0:
        print(float((together - alone.weight.grad).abs().max()))


dist.init_process_group("gloo")
main()  # the network is gone before the group
dist.destroy_process_group()
