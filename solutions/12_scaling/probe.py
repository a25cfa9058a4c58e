"""Test train.py: does strong scaling on N ranks compute what one rank computes?

torchrun --nproc-per-node=2 probe.py

Nothing here is to be filled in. All ranks train by your plan, in double precision. Then each rank
trains alone, on the whole batch: both ways have to end with the same network.
"""

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from lessons.toolkit.probes.on_ranks import GROUP_TIMEOUT, run_tests
from lessons.toolkit.record import Run

import train
from ranks import gather, who_am_i
from tiny import distance, flat, network

BATCH, IMAGES, EPOCHS = 4, 24, 2  # batch and images of each rank in strong scaling


def fit(model, loader, device):
    """Train with SGD: its step shows a gradient that is N times too long, and Adam's does not."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for epoch in range(EPOCHS):
        train.train_epoch(model, loader, optimizer, nn.CrossEntropyLoss(), device, epoch)


def many_against_one(device):
    """Train on all ranks, each with its part of a batch, and on one process with the batch."""
    size = dist.get_world_size()
    [(part, samples)] = train.plan("strong", [size], BATCH * size, IMAGES * size)
    inside = network(1 + dist.get_rank()).to(device)  # different, until train.py makes them equal
    twin = network(1).to(device)  # as rank 0's
    before = flat(twin.parameters())
    images = TensorDataset(torch.rand(samples, 28, 28).double(), torch.randint(10, (samples,)))
    fit(train.distribute(inside, device), train.make_loader(images, part, 1), device)
    whole = DistributedSampler(images, 1, 0, seed=1)  # all images in the order of one rank
    fit(twin, DataLoader(images, BATCH * size, sampler=whole), device)
    right, ranks = flat(twin.parameters()), torch.stack(gather(flat(inside.parameters())))
    yield "probe_error", distance(ranks[dist.get_rank()], right, right - before)
    yield "probe_spread", (ranks.amax(0) - ranks.amin(0)).max()


TESTS = {many_against_one: ("probe_error", "probe_spread")}


def command_line():
    return train.command_line()  # the job starts both programs with the same options


def main():
    args = command_line().parse_args()
    device = train.start_ranks(*who_am_i(), GROUP_TIMEOUT)
    run_tests(Run("12", args, source="probe"), TESTS, device)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
