"""Test train.py, own_ddp.py and no_sync.py: do N ranks compute what one process computes?

torchrun --nproc-per-node=2 probe.py

Nothing here is to be filled in. This is how to test a distributed program, also one of your own:
start each rank differently, write down what enters the network, take the same steps again in one
process, and compare. Double precision leaves errors of about 1e-15, and SGD hides none. An error
above 1e-6 is a mistake. `exchanges` has to be 1, `largest_part` 3, `own_buckets` 2, `own_early` 1,
and all other measures 0.
"""

import copy
from functools import partial
from unittest import mock

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DistributedSampler, TensorDataset

from lessons.toolkit.probes.on_ranks import GROUP_TIMEOUT, meet, run_tests
from lessons.toolkit.record import Run

import no_sync
import own_ddp
import train
from ranks import gather, who_am_i
from tiny import IMAGES, ODD, all_rows, distance, flat, images, network, own_rows, watch

BATCH, EPOCHS = 8, 3
PARTS = 5  # of 11 images: 3, 3, 3 and 2
SEED = 5  # of the sampler
LOSS = nn.CrossEntropyLoss()


def many_against_one(device):
    """Train on all ranks for three epochs, then take the same steps again in one process.

    That process begins with rank 0's network. In each step it takes the images of all ranks as one
    batch. SGD shows a gradient that is N times too long; Adam does not.
    """
    x, y = images()
    inside = network(dist.get_rank()).to(device)  # train.py makes the ranks' networks equal
    twin = network(0).to(device)
    model = train.distribute(inside, device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    steps = watch(inside, optimizer)
    loader = train.make_loader(TensorDataset(x, y), BATCH, SEED)
    before, read = flat(twin.parameters()), []
    for epoch in range(EPOCHS):
        train.train_epoch(model, loader, optimizer, LOSS, device, epoch)
        read.append(list(steps))
        steps.clear()
    everyone = gather(read)  # a list of ranks, of epochs, of steps, of images

    again = torch.optim.SGD(twin.parameters(), lr=0.05)
    for epoch in range(EPOCHS):
        for step in zip(*(rank[epoch] for rank in everyone), strict=True):
            again.zero_grad()
            batches = [torch.tensor(numbers) for numbers in step]
            losses = [LOSS(twin(x[batch].to(device)), y[batch].to(device)) for batch in batches]
            (sum(losses) / len(losses)).backward()
            again.step()
    after, right = flat(inside.parameters()), flat(twin.parameters())
    ranks = torch.stack(gather(after))
    yield "probe_error", distance(after, right, right - before)
    yield "probe_spread", (ranks.amax(0) - ranks.amin(0)).max()
    yield from who_read_what(everyone)


def who_read_what(everyone):
    """Compare what entered the networks with what a DistributedSampler draws for each epoch."""
    size, wrong, missing, twice = len(everyone), 0, 0, 0
    for epoch in range(EPOCHS):
        own = [[number for step in rank[epoch] for number in step] for rank in everyone]
        for rank, numbers in enumerate(own):
            sampler = DistributedSampler(range(IMAGES), size, rank, seed=SEED)
            sampler.set_epoch(epoch)
            wrong += numbers != list(sampler)
        together = [number for numbers in own for number in numbers]
        missing = max(missing, IMAGES - len(set(together)))
        twice = max(twice, len(together) - len(set(together)))
    yield "orders_wrong", wrong
    yield "images_left_out", missing
    padding = -IMAGES % size  # images that the sampler repeats, so that all shares are equal
    yield "images_repeated", twice - padding


def in_parts(device):
    """Compute the gradient of a batch in parts, and of the whole batch of all ranks at once."""
    exchanges = 0

    def exchange(_, bucket):
        nonlocal exchanges
        exchanges += bucket.is_last()
        mean = bucket.buffer() / dist.get_world_size()
        return dist.all_reduce(mean, async_op=True).get_future().then(lambda done: done.value()[0])

    x, y = images()
    inside = network(0).to(device)
    twin = copy.deepcopy(inside)
    passes = watch(inside)
    model = train.distribute(inside, device)
    model.register_comm_hook(None, exchange)
    own, every = own_rows(), all_rows()
    no_sync.accumulate(model, LOSS, x[own].to(device), y[own].to(device), PARTS)
    LOSS(twin(x[every].to(device)), y[every].to(device)).backward()
    found, right = (flat(each.grad for each in net.parameters()) for net in (inside, twin))
    yield "accumulation_error", distance(found, right, right)
    yield "exchanges", exchanges
    yield "largest_part", max(map(len, passes))


def by_hand(device):
    """Take two steps with the student's buckets, and with one process on all ranks' images."""
    computed, all_reduce = [], dist.all_reduce

    def noted(*args, **options):
        computed.append(sum(each.grad is None for each in inside.parameters()))
        return all_reduce(*args, **options)

    # the student's file may have imported it by its name
    imported = {name: noted for name, it in vars(own_ddp).items() if it is all_reduce}
    x, y = images()
    inside, twin = network(dist.get_rank()).to(device), network(0).to(device)
    model = own_ddp.distribute(inside, device, bucket_mb=0.1)
    before = flat(twin.parameters())
    with mock.patch.object(dist, "all_reduce", noted), mock.patch.dict(vars(own_ddp), imported):
        for rows, net in ((own_rows(), model), (all_rows(), twin)):
            optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
            for _ in range(2):
                optimizer.zero_grad()
                LOSS(net(x[rows].to(device)), y[rows].to(device)).backward()
                optimizer.step()
    after, right = flat(inside.parameters()), flat(twin.parameters())
    yield "own_error", distance(after, right, right - before)
    yield "own_buckets", len(computed) / 2
    yield "own_early", max(computed, default=0)  # gradients not yet computed as a bucket left


def alone(device):
    """Let one rank take a step while the others wait. The right step is computed by hand."""
    lone = min(1, dist.get_world_size() - 1)  # rank 0 only sends DDP's buffers, and might not wait
    pause = dist.new_group(backend="gloo")
    x, y = (each[:ODD].to(device) for each in images())
    inside = nn.Sequential(network(0), nn.BatchNorm1d(10).double()).to(device)
    model = train.distribute(inside, device)
    optimizer = torch.optim.SGD(inside.parameters(), lr=0.1)
    for _ in range(3):  # with all ranks, because DDP sorts its gradients in the first steps
        train.train_step(model, optimizer, LOSS, x, y)
    twin, error = copy.deepcopy(inside), 0.0
    gradients = torch.autograd.grad(LOSS(twin(x), y), list(twin.parameters()))
    right = flat(twin.parameters()) - 0.1 * flat(gradients)
    try:
        if dist.get_rank() == lone:
            no_sync.step_alone(model, optimizer, LOSS, x, y)
            error = (flat(inside.parameters()) - right).abs().max()
            error = error if inside.training else float("inf")
    finally:
        dist.barrier(pause)
    yield "alone_error", error


TESTS = {  # with measures that rubrics ask for, and that fail with the test
    many_against_one: ("probe_error", "probe_spread", "orders_wrong", "images_left_out"),
    in_parts: ("accumulation_error", "exchanges", "largest_part"),
    by_hand: ("own_error", "own_buckets", "own_early"),
    alone: ("alone_error",),  # at the end: after a rank that waits, no other test can run
}


def command_line():
    return train.command_line()  # the job starts both programs with the same options


def main():
    args = command_line().parse_args()
    rank, size, local_rank = who_am_i()
    start = partial(train.start_ranks, rank, size, local_rank, GROUP_TIMEOUT)
    device = meet(start, "10", args, TESTS)
    run_tests(Run("10", args, source="probe"), TESTS, device)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
