"""Measure strong, epoch and weak scaling in one launch, with your `plan` of train.py.

cluster submit job_study.sbatch --rounds 6 --batch-size 64 --train-samples 256

The processes that measure do not import train.py: they ask another process for its plans.
"""

import datetime
import json
import subprocess
import sys
from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser
from pathlib import Path

import torch
import torch.distributed as dist
from mpi4py import MPI
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DistributedSampler

from lessons.toolkit import data
from lessons.toolkit.ranks.leaving import leave
from lessons.toolkit.record import Run, scaling_rounds

import resnet
from ranks import who_am_i

KINDS = ["strong", "epoch", "weak"]
# Prints what train.plan returns for each kind. `plans_of` writes its arguments.
ASK = """
import json, sys, train
kinds, *others = map(json.loads, sys.argv[1:])
print(json.dumps([train.plan(kind, *others, images) for kind, images in kinds]))
"""
IMAGES = 50_000  # size of CIFAR-10's training set


def command_line():
    parser = ArgumentParser(description=__doc__, formatter_class=ArgumentDefaultsHelpFormatter)
    kinds = [*KINDS, "all"]
    parser.add_argument("--scaling", default="all", choices=kinds, help="what stays as it is")
    parser.add_argument("--rounds", type=int, default=6, help="a pass on each number of ranks")
    parser.add_argument(
        "--batch-size", "--batch_size", type=int, default=64, help="images a step of one rank alone"
    )
    parser.add_argument("--train-samples", type=int, default=256, help="images of one rank alone")
    parser.add_argument("--weak-samples", type=int, default=0, help="in weak scaling; 0: as many")
    parser.add_argument("--width", type=int, default=1, help="10: enough arithmetic for a GPU")
    parser.add_argument("--lr", type=float, default=0.001, help="learning rate of one rank alone")
    parser.add_argument("--timeout", type=float, default=300, help="seconds to wait for a rank")
    parser.add_argument("--seed", type=int, default=1, help="where all random numbers begin")
    return parser


def numbers_of_ranks(size):
    """Return 1, 2, 4 … and the number of all ranks."""
    return [2**n for n in range(size.bit_length()) if 2**n < size] + [size]


def plans_of(kinds, sizes, args):
    """Return the plans of train.py for each kind, or None if it fails."""
    weak = args.weak_samples or args.train_samples
    pairs = [(kind, weak if kind == "weak" else args.train_samples) for kind in kinds]
    words = [json.dumps(value) for value in (pairs, sizes, args.batch_size)]
    asked = subprocess.run(
        [sys.executable, "-c", ASK, *words],
        cwd=Path(__file__).parent, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    return None if asked.returncode else json.loads(asked.stdout.splitlines()[-1])


def planned_work(rank, kinds, sizes, args):
    """Return `plan` for each kind and size. It has to be possible before anything is measured."""
    works = {}
    found = MPI.COMM_WORLD.bcast(plans_of(kinds, sizes, args) if rank == 0 else None)
    if found is None:
        leave(rank, "study.py needs `plan` of train.py, which failed. The error is above.")
    for kind, plans in zip(kinds, found, strict=True):
        works[kind] = dict(zip(sizes, plans, strict=True))
        if min(local_batch for local_batch, _ in plans) < 1:
            leave(
                rank,
                f"A batch of {args.batch_size} images cannot be divided among {sizes[-1]} ranks.",
            )
        needed = max(samples for _, samples in plans)
        if needed > IMAGES:
            text = f"{plans[0][1]} images of one rank: {kind} scaling on {sizes[-1]} ranks "
            text += f"needs {needed:,} images, and CIFAR-10 has {IMAGES:,}. Ask for at most "
            leave(rank, f"{text}{plans[0][1] * IMAGES // needed}.")
    return works


def start_ranks(rank, size, local_rank, timeout):
    """Meet the other ranks. Return this rank's device: its own GPU, or the CPU."""
    if torch.cuda.is_available():
        device, backend = torch.device("cuda", local_rank), "nccl"
        torch.cuda.set_device(device)
    else:
        device, backend = torch.device("cpu"), "gloo"
    dist.init_process_group(backend, rank=rank, world_size=size, timeout=timeout)
    return device


def make_trainer(device, group, ranks, width):
    """Return a network for this many ranks, and a function that trains it for one pass."""
    network = model = resnet.resnet(width).to(device)
    if ranks > 1:
        gpus = [device] if device.type == "cuda" else None
        model = DistributedDataParallel(network, device_ids=gpus, process_group=group)
    optimizer = torch.optim.Adam(model.parameters(), lr=0)
    loss_function = nn.CrossEntropyLoss()

    def one_pass(x, y, batches, lr):
        optimizer.param_groups[0]["lr"] = lr
        for batch in batches:
            optimizer.zero_grad()
            loss_function(model(x[batch]), y[batch]).backward()
            optimizer.step()
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
    kinds = KINDS if args.scaling == "all" else [args.scaling]
    works = planned_work(rank, kinds, sizes, args)
    device = start_ranks(rank, size, local_rank, datetime.timedelta(seconds=args.timeout))
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
            sampler.set_epoch(number)
            batches = torch.tensor(list(sampler)).split(local_batch)
            _, one_pass = trainers[p]
            return one_pass(x, y, batches, args.lr * local_batch * p / args.batch_size)

        network, _ = trainers[size]
        facts = {"scaling": kind, "local_batch": planned[size][0], "optimizer": "adam"}
        run = Run("12", args, network, source="study", **facts)
        scaling_rounds.measure(
            run,
            comm,
            passes={p: lambda number, p=p: pass_on(p, False, number) for p in sizes},
            params={p: params.get(p, params[1]) for p in sizes},
            local_batches={p: planned[p][0] for p in sizes},
            silent=(lambda number: pass_on(1, True, number)) if kind == "weak" else None,
            rounds=args.rounds,
        )
        run.end()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
