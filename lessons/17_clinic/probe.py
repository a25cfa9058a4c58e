"""Test all exercises of this lesson on real ranks, in double precision where there are numbers.

torchrun --nproc-per-node=2 probe.py

Nothing here is to be filled in. Each test compares the ranks with one process that has the images
of all. `chosen_missing` is 0 if one of exercises 17.3, 17.4 and 17.5 is right.
"""

import argparse
import copy
import datetime
import random
import statistics
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import TensorDataset

from lessons.toolkit.probes.on_ranks import run_tests
from lessons.toolkit.record import Run

import culprit
import exact
import unused
from chosen import batch_norm, random_streams, weighted_tokens
from compare import count_exchanges, counted, distance, everyone, flat
from dumps import CASES, recorded
from ranks import gather, who_am_i

IMAGES = 1601  # no number of ranks from 2 on divides it
STEPS = 6


def start_ranks(rank, size, local_rank, timeout):
    """Meet the other ranks. Return this rank's own GPU, or the CPU."""
    gpu = torch.cuda.is_available()
    device = torch.device("cuda", local_rank) if gpu else torch.device("cpu")
    if gpu:
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if gpu else "gloo", rank=rank, world_size=size, timeout=timeout)
    return device


def second_head(device):
    """17.1: six steps on all ranks, then the same six in one process."""
    torch.manual_seed(1)
    inside = unused.TwoHeads().double().to(device)
    twin = copy.deepcopy(inside)
    model = unused.distribute(inside, device)
    sent = count_exchanges(model)
    batches = [
        [part.to(device) for part in batch]
        for batch in unused.make_batches(STEPS, 6, dist.get_rank())
    ]
    before = flat(twin.parameters())
    unused.train(model, torch.optim.SGD(inside.parameters(), 0.1), batches)
    whole = [everyone(batch) for batch in batches]
    unused.train(twin, torch.optim.SGD(twin.parameters(), 0.1), whole)
    right = flat(twin.parameters()) - before
    yield "unused_error", distance(flat(inside.parameters()) - before, right)
    yield "exchanges_per_step", len(sent) / STEPS


def exact_test(device):
    """17.2: the mean of three classes' accuracies on all ranks, and on one."""
    numbers = torch.Generator().manual_seed(2)
    x = torch.rand(IMAGES, 8, generator=numbers, dtype=torch.float64)
    y = torch.randint(0, 9, (IMAGES,), generator=numbers).clamp(max=2)  # two are rare
    torch.manual_seed(3)
    model = nn.Linear(8, 3).double().to(device)
    rank, size = dist.get_rank(), dist.get_world_size()
    loader = exact.test_loader(TensorDataset(x, y), 100, rank, size)
    with counted(exact.dist) as calls:
        found = exact.accuracy(model, loader, 3, device)
    good = (model(x.to(device)).argmax(1) == y.to(device)).cpu()
    right = statistics.mean(float(good[y == each].double().mean()) for each in range(3))
    yield "reductions", len(calls)
    shares = gather(sum(len(labels) for _, labels in loader))
    yield "images_tested_twice", sum(shares) - IMAGES
    yield "images_off", round(abs(float(found) - right) * IMAGES, 3)  # found may be a float32
    yield "largest_share", max(shares) * size / IMAGES  # 1: all ranks test as many


CHOICE = {random_streams: "17.4", weighted_tokens: "17.5", batch_norm: "17.3"}


def chosen(device):
    """17.3, 17.4 or 17.5: one of them has to be right. The others may be gaps."""
    for test, exercise in CHOICE.items():
        try:
            worst = max(map(abs, dict(test(device)).values()))
        except Exception as error:
            print(f"rank {dist.get_rank()}, {exercise}: {error}", flush=True)
            worst = float("inf")
        if max(gather(worst)) <= 1e-6:
            print(f"rank {dist.get_rank()}: {exercise} is right", flush=True)
            yield "chosen_missing", 0
            return
    yield "chosen_missing", 1


def culprits(device):
    """17.7: dumps that are drawn anew for each run."""
    wrong = 0
    for case in CASES:
        for _ in range(5):
            dumps, answer = recorded(case, random.Random())
            found = culprit.find_culprit(copy.deepcopy(dumps))
            wrong += tuple(found or ()) != answer
    yield "culprits_wrong", wrong


def price(device):
    """Measure a step of plain DDP, and of yours that may leave parameters unused, in rounds."""
    model = unused.TwoHeads(256).to(device)
    gpus = [device] if device.type == "cuda" else None
    seconds = {False: [], True: []}
    batch = [part.to(device) for part in unused.make_batches(1, 64, 1)[0]]
    batch[0] = batch[0].float()
    for _ in range(3):
        for mended, times in seconds.items():
            if mended:
                ddp = unused.distribute(model, device)
            else:
                ddp = DistributedDataParallel(model, device_ids=gpus)
            for step in range(7):
                start = time.perf_counter()
                unused.loss_of(ddp, *batch, with_second=True).backward()
                if device.type == "cuda":
                    torch.cuda.synchronize()
                if step > 1:
                    times.append(1e3 * (time.perf_counter() - start))
    yield "plain_ms", statistics.median(seconds[False])
    yield "mended_ms", statistics.median(seconds[True])


TESTS = {  # with the measures that fail with the test
    culprits: ("culprits_wrong",),
    price: ("plain_ms", "mended_ms"),
    second_head: ("unused_error", "exchanges_per_step"),
    exact_test: ("reductions", "images_off", "images_tested_twice", "largest_share"),
    chosen: ("chosen_missing",),  # at the end: an exercise that nobody chose may hang
}


def command_line():
    return argparse.ArgumentParser(description=__doc__)


def main():
    args = command_line().parse_args()
    rank, size, local_rank = who_am_i()
    device = start_ranks(rank, size, local_rank, datetime.timedelta(minutes=5))
    run = Run("17", args, source="probe")
    run_tests(run, TESTS, device)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
