"""Measure when gradients travel: DDP's buckets by size, and the cost of late ranks.

torchrun --nproc-per-node=2 buckets.py --bucket-mb 0.05 0.25 25 --late-ms 40
"""

import datetime
import itertools
import statistics
import time
from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser

import torch
import torch.distributed as dist
from torch import nn

from lessons.toolkit.probes.profiling import mark, seconds_between
from lessons.toolkit.record import Run
from lessons.toolkit.record.run_record import synchronise

import train
from ranks import gather, who_am_i
from resnet import resnet


def command_line():
    parser = ArgumentParser(description=__doc__, formatter_class=ArgumentDefaultsHelpFormatter)
    sizes = [0.05, 0.25, 25.0]
    parser.add_argument("--bucket-mb", type=float, nargs="+", default=sizes, help="of each way")
    parser.add_argument("--late-ms", type=float, default=40, help="one rank waits in a step")
    parser.add_argument("--rounds", type=int, default=5, help="of one step in each way")
    parser.add_argument("--batch-size", type=int, default=8, help="images per step of a rank")
    parser.add_argument("--seed", type=int, default=1, help="where all random numbers begin")
    return parser


def batches_of(batch_size, seed, device):
    """Return endless batches of random images, on which a step takes as long as on real ones."""
    generator = torch.Generator().manual_seed(seed)
    images = torch.rand(8, batch_size, 3, 32, 32, generator=generator).to(device)
    labels = torch.randint(0, 10, (8, batch_size), generator=generator).to(device)
    return itertools.cycle(zip(images, labels, strict=True))


class Way:
    """A network with buckets of one size. It records when each one leaves and arrives."""

    def __init__(self, megabytes, device):
        self.megabytes, self.device = megabytes, device
        self.model = train.distribute(resnet().to(device), device, megabytes)
        self.model.register_comm_hook(None, self.exchange)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)
        self.steps = []  # results of `step`: those that count

    def exchange(self, _, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
        """Exchange as DDP does itself, and take the time. The hook gets a bucket once it is full.

        With NCCL, `arrived` runs at once, before the message has arrived. But it runs in a queue of
        the GPU that waits for the message, so an event there has the time of the arrival.
        """
        left, number = mark(self.device), bucket.index()
        mean = bucket.buffer() / dist.get_world_size()

        def arrived(done):
            self.times.append((number, left, mark(self.device)))
            return done.value()[0]

        return dist.all_reduce(mean, async_op=True).get_future().then(arrived)

    def step(self, x, y, late=0.0):
        """Return the seconds of one step, of its backward pass, and of each bucket's journey."""
        self.times = []
        began = time.perf_counter()
        time.sleep(late)
        self.optimizer.zero_grad()
        loss = nn.functional.cross_entropy(self.model(x), y)
        synchronise()
        backward = mark(self.device)
        loss.backward()
        ended = mark(self.device)
        self.optimizer.step()
        synchronise()
        seconds = time.perf_counter() - began
        journeys = [
            (number, seconds_between(backward, left), seconds_between(backward, arrived))
            for number, left, arrived in sorted(self.times, key=lambda journey: journey[0])
        ]
        return seconds, seconds_between(backward, ended), journeys


def tell(run, way, late):
    """Record the median step, and the buckets' journeys in it since the start of backward."""
    rank_0 = {"bucket_mb": way.megabytes, "late_ms": late}
    by_backward = sorted(way.steps, key=lambda step: step[1])
    _, backward, journeys = by_backward[len(by_backward) // 2]
    slowest_rank = [seconds for seconds, *_ in way.steps]
    run.measure("step_s", statistics.median(slowest_rank), "s", **rank_0)
    run.measure("backward_s", backward, "s", **rank_0)
    for number, left, arrived in journeys:
        run.measure("bucket_left_s", left, "s", bucket=number, arrived_s=arrived, **rank_0)


def main():
    args = command_line().parse_args()

    rank, size, local_rank = who_am_i()
    device = train.start_ranks(rank, size, local_rank, datetime.timedelta(minutes=5))
    torch.manual_seed(args.seed)
    ways = {megabytes: Way(megabytes, device) for megabytes in args.bucket_mb}
    network = ways[args.bucket_mb[0]].model
    run = Run("10", vars(args) | {"model": "resnet20"}, network, source="buckets")
    batches = batches_of(args.batch_size, args.seed + rank, device)
    for late in (0.0, args.late_ms):
        # Two to warm up: DDP cuts its buckets to size after the first backward pass.
        for number in range(-2, args.rounds):
            sleeps = late / 1000 if rank == number % size else 0.0  # the ranks take turns
            for way in ways.values() if number % 2 else reversed(ways.values()):
                dist.barrier()
                seconds, *travel = way.step(*next(batches), sleeps)
                seconds = max(gather(seconds))
                if number >= 0:
                    way.steps.append((seconds, *travel))
        for way in ways.values():
            tell(run, way, late)
            way.steps = []
    run.end()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
