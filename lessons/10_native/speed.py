"""Measure how much faster ranks are than one, with train.py's DDP, and the limit.

mpirun -np 2 python speed.py --rounds 12 --steps 1 --batch-size 32

It works like the timer of lesson 02. A round times the same steps in three phases: one rank, all
ranks without exchanges (the limit), all ranks together. The result is the median over the rounds.
A process that never imports train.py does the work of the first two phases, `alone`. Another
process on each rank does that of the third, `together`.
"""

import datetime
from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser

from lessons.toolkit import clock


def command_line():
    parser = ArgumentParser(description=__doc__, formatter_class=ArgumentDefaultsHelpFormatter)
    parser.add_argument("--rounds", type=int, default=12, help="of three phases each, at most")
    parser.add_argument("--steps", type=int, default=1, help="of a phase, on average")
    parser.add_argument(
        "--batch-size", "--batch_size", type=int, default=32, help="images a step, on each rank"
    )
    parser.add_argument("--bucket-mb", type=float, default=0.25, help="gradients sent at once")
    parser.add_argument("--width", type=int, default=1, help="10: enough arithmetic for a GPU")
    parser.add_argument("--lr", type=float, default=0.001, help="learning rate")
    parser.add_argument("--seed", type=int, default=1, help="where the networks begin")
    return parser


def network(job, device):
    """Return a network that differs between ranks, until they are made equal."""
    import torch

    from resnet import resnet

    torch.manual_seed(job.args.seed + job.rank)
    return resnet(job.args.width).to(device)


def alone(job):
    """Return the work of a rank that exchanges nothing. Nothing here comes from train.py."""
    import torch

    from lessons.toolkit.clock.torch_work import TorchWork
    from lessons.toolkit.ranks import enough_gpus

    enough_gpus(torch.cuda.device_count())
    if torch.cuda.is_available():
        torch.cuda.set_device(job.local_rank)
    plain = network(job, "cuda" if torch.cuda.is_available() else "cpu")
    return TorchWork(plain, plain, job.args)


def together(job):
    """Return the work of one of several ranks, with your `start_ranks` and `distribute`."""
    from lessons.toolkit.clock.torch_work import TorchWork

    import train

    timeout = datetime.timedelta(minutes=5)
    device = train.start_ranks(job.rank, job.size, job.local_rank, timeout)
    plain = network(job, device)
    return TorchWork(plain, train.distribute(plain, device, job.args.bucket_mb), job.args)


if __name__ == "__main__":
    clock.conduct(alone, together, command_line(), lesson="10", framework="torch")
