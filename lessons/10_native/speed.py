"""Measure how much faster ranks are than one, with train.py's DDP, and the limit.

mpirun -np 2 python speed.py --rounds 12 --steps 2 --batch-size 32
"""

import argparse
import datetime

import numpy as np
import torch
import torch.distributed as dist
from mpi4py import MPI
from torch import nn

from lessons.toolkit.ranks.leaving import leave
from lessons.toolkit.record import Record, rounds

import noise
import train
from ranks import who_am_i
from resnet import resnet

COMPARED = 3  # number of steps that are compared with steps by hand


def command_line():
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--rounds", type=int, default=12, help="of three phases each")
    parser.add_argument("--steps", type=int, default=2, help="of a phase")
    parser.add_argument(
        "--batch-size", "--batch_size", type=int, default=32, help="images a step, on each rank"
    )
    parser.add_argument(
        "--bucket-mb", type=float, default=0.25, help="gradients that travel at once"
    )
    parser.add_argument("--width", type=int, default=1, help="10: enough arithmetic for a GPU")
    parser.add_argument("--lr", type=float, default=0.001, help="learning rate")
    parser.add_argument("--seed", type=int, default=1, help="where all random numbers begin")
    return parser


def make_step(model, optimizer, batches):
    """Return a function that trains on the next batch, whatever the network does."""
    loss = nn.CrossEntropyLoss()
    return lambda: train.train_step(model, optimizer, loss, *next(batches))


def make_step_by_hand(model, optimizer, batches):
    """Return the same step, with every gradient visibly averaged by MPI."""
    loss = nn.CrossEntropyLoss()

    def step():
        optimizer.zero_grad()
        images, labels = next(batches)
        loss(model(images), labels).backward()
        for parameter in model.parameters():
            mean = np.empty(parameter.shape, np.float32)
            MPI.COMM_WORLD.Allreduce(parameter.grad.cpu().numpy(), mean)
            parameter.grad.copy_(torch.from_numpy(mean / MPI.COMM_WORLD.size))
        optimizer.step()

    return step


def trainable(model):
    return [parameter.detach().cpu().numpy() for parameter in model.parameters()]


def difference(model, other, start):
    """Return the distance between two networks, relative to how far the second one went."""
    apart = sum(
        ((a - b) ** 2).sum() for a, b in zip(trainable(model), trainable(other), strict=True)
    )
    way = sum(((b - s) ** 2).sum() for b, s in zip(trainable(other), start, strict=True))
    return float(np.sqrt(apart / way)) if way > 0 else 1.0


def main():
    parser = command_line()
    args = parser.parse_args()
    if min(args.rounds, args.steps, args.batch_size, args.width) < 1:
        parser.error("--rounds, --steps, --batch-size and --width are at least 1")
    args.model = "resnet20"

    rank, size, local_rank = who_am_i()
    if size < 2 or MPI.COMM_WORLD.size != size:
        text = (
            f"speed.py compares ranks: the launcher started {size}, MPI sees {MPI.COMM_WORLD.size}"
        )
        leave(rank, f"{text}. Start at least two, with mpirun or srun.")
    device = train.start_ranks(rank, size, local_rank, datetime.timedelta(minutes=5))
    torch.manual_seed(args.seed + rank)

    plain, other = resnet(args.width).to(device), resnet(args.width).to(device)
    ours = train.distribute(plain, device, args.bucket_mb)
    record = Record(
        "10",
        args,
        source="speed",
        framework="torch",
        params=sum(p.numel() for p in other.parameters()),
        optimizer="adam",
        rank=rank,
        size=size,
        local_rank=local_rank,
    )
    # Both start from rank 0's parameters, as the ranks do if `distribute` makes them equal.
    start = MPI.COMM_WORLD.bcast(trainable(plain))
    with torch.no_grad():
        for parameter, value in zip(other.parameters(), start, strict=True):
            parameter.copy_(torch.from_numpy(value))
    optimizers = [torch.optim.Adam(model.parameters(), lr=args.lr) for model in (ours, other)]
    batches = [noise.batches(args.batch_size, args.seed + rank, device) for _ in range(3)]
    # Are all ranks' gradients averaged? Steps of both with the same batches must agree.
    together = make_step(ours, optimizers[0], batches[0])
    by_hand = make_step_by_hand(other, optimizers[1], batches[1])
    error = 0.0
    for _ in range(COMPARED):
        together(), by_hand()
        error = max(error, *MPI.COMM_WORLD.allgather(difference(plain, other, start)))
    record.measure("update_error", error, "", steps=COMPARED)

    rounds.measure(
        record,
        MPI.COMM_WORLD,
        silent=make_step(other, optimizers[1], batches[2]),
        together=together,
        params=lambda: trainable(plain),
        samples=args.batch_size,
        rounds=args.rounds,
        steps=args.steps,
    )
    spread = rounds.spread(MPI.COMM_WORLD, trainable(plain))
    record.end(params=trainable(plain), param_spread=spread)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
