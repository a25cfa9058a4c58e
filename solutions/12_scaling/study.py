"""Measure strong, epoch and weak scaling in one launch, with the program of train.py.

mpirun -np 2 python study.py --rounds 6 --batch-size 64 --train-samples 256
"""

import argparse
import datetime

import torch
import torch.distributed as dist
from mpi4py import MPI
from torch import nn
from torch.utils.data import DistributedSampler

from lessons.toolkit import data
from lessons.toolkit.ranks.leaving import leave
from lessons.toolkit.record import Record, scaling_rounds

import resnet
import train
from ranks import who_am_i

IMAGES = 50_000  # size of CIFAR-10's training set


def command_line():
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    kinds = [*train.KINDS, "all"]
    parser.add_argument("--scaling", default="all", choices=kinds, help="what stays as it is")
    parser.add_argument("--rounds", type=int, default=6, help="a pass on each number of ranks")
    parser.add_argument(
        "--batch-size", "--batch_size", type=int, default=64, help="images a step of one rank alone"
    )
    parser.add_argument("--train-samples", type=int, default=256, help="images of one rank alone")
    parser.add_argument("--width", type=int, default=1, help="10: enough arithmetic for a GPU")
    parser.add_argument("--lr", type=float, default=0.001, help="learning rate of one rank alone")
    parser.add_argument("--timeout", type=float, default=300, help="seconds to wait for a rank")
    parser.add_argument("--seed", type=int, default=1, help="where all random numbers begin")
    return parser


def numbers_of_ranks(size):
    """Return 1, 2, 4 … and the number of all ranks."""
    return [2**n for n in range(size.bit_length()) if 2**n < size] + [size]


def planned_work(rank, kinds, sizes, args):
    """Return `plan` for each kind and size. It has to be possible before anything is measured."""
    works = {}
    for kind in kinds:
        plans = train.plan(kind, sizes, args.batch_size, args.train_samples)
        works[kind] = dict(zip(sizes, plans, strict=True))
        if min(local_batch for local_batch, _ in plans) < 1:
            leave(
                rank,
                f"A batch of {args.batch_size} images cannot be divided among {sizes[-1]} ranks.",
            )
        needed = max(samples for _, samples in plans)
        if needed > IMAGES:
            text = f"--train-samples {args.train_samples}: {kind} scaling on {sizes[-1]} ranks "
            text += f"needs {needed:,} images, and CIFAR-10 has {IMAGES:,}. Ask for at most "
            leave(rank, f"{text}{args.train_samples * IMAGES // needed}.")
    return works


def make_trainer(device, group, ranks, width):
    """Return a network for this many ranks, and a function that trains it for one pass."""
    network = resnet.resnet(width).to(device)
    model = train.distribute(network, device, group) if ranks > 1 else network
    optimizer = torch.optim.Adam(model.parameters(), lr=0)
    loss_function = nn.CrossEntropyLoss()

    def one_pass(x, y, batches, lr):
        optimizer.param_groups[0]["lr"] = lr
        for batch in batches:
            train.train_step(model, optimizer, loss_function, x[batch], y[batch])
        return batches

    return network, one_pass


def trainable(network):
    return [parameter.detach().cpu().numpy() for parameter in network.parameters()]


def main():
    parser = command_line()
    args = parser.parse_args()
    if min(args.rounds, args.batch_size, args.train_samples, args.width) < 1:
        parser.error("--rounds, --batch-size, --train-samples and --width are at least 1")
    args.model = "resnet20"

    rank, size, local_rank = who_am_i()
    comm = MPI.COMM_WORLD
    if size < 2 or comm.size != size:
        text = "study.py compares numbers of ranks: start it by mpirun or srun, with at least two."
        leave(rank, text)
    sizes = numbers_of_ranks(size)
    kinds = train.KINDS if args.scaling == "all" else [args.scaling]
    works = planned_work(rank, kinds, sizes, args)
    device = train.start_ranks(rank, size, local_rank, datetime.timedelta(seconds=args.timeout))
    torch.manual_seed(args.seed)
    groups = {p: dist.new_group(range(p)) for p in sizes}
    # One network for each number of ranks. Silent copies also use the one for one rank.
    trainers = {
        p: make_trainer(device, groups[p], p, args.width) for p in sizes if rank < p or p == 1
    }
    params = {p: lambda net=net: trainable(net) for p, (net, _) in trainers.items()}

    for kind, planned in works.items():
        cifar = data.load("cifar10", max(samples for _, samples in planned.values()), 1)
        x = torch.tensor(cifar.x_train).permute(0, 3, 1, 2).contiguous().to(device)
        y = torch.tensor(cifar.y_train, dtype=torch.long).to(device)

        def pass_on(p, copies, number, planned=planned, x=x, y=y):
            """Make a pass as one of p ranks, or alone as a silent copy."""
            local_batch, samples = planned[p]
            sampler = DistributedSampler(range(samples), p, 0 if copies else rank, seed=args.seed)
            batches = train.order_of(sampler, number).split(local_batch)
            _, one_pass = trainers[p]
            return one_pass(x, y, batches, args.lr * local_batch * p / args.batch_size)

        record = Record(
            "12",
            args,
            source="study",
            scaling=kind,
            framework="torch",
            params=sum(p.numel() for p in resnet.resnet(args.width).parameters()),
            optimizer="adam",
            dataset=cifar.facts,
            rank=rank,
            size=size,
            local_rank=local_rank,
            local_batch=planned[size][0],
        )
        record.begin(trainable(trainers[size][0]))
        scaling_rounds.measure(
            record,
            comm,
            passes={p: lambda number, p=p: pass_on(p, False, number) for p in sizes},
            params={p: params.get(p, params[1]) for p in sizes},
            local_batches={p: planned[p][0] for p in sizes},
            silent=(lambda number: pass_on(1, True, number)) if kind == "weak" else None,
            rounds=args.rounds,
        )
        spread = scaling_rounds.spread(comm, trainable(trainers[size][0]))
        record.end(params=trainable(trainers[size][0]), param_spread=spread)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
