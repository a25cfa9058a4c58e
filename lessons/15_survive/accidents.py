"""Real signals at planned steps, so that a training can show that it survives them."""

import os
import signal

import torch.distributed as dist


def add_options(parser):
    parser.add_argument("--kill-at", type=int, nargs="+", default=[], help="steps that are fatal")
    parser.add_argument("--warn-at", type=int, nargs="+", default=[], help="USR1, to rank 0 only")
    parser.add_argument(
        "--fatal-for",
        default="rank",
        choices=("rank", "node", "others"),
        help="who dies then: the last rank; this one and its torchrun; none that has this option",
    )


def happen(args, life, number):
    """Kill a rank, or warn rank 0, if this is what this step brings in this life."""
    bad_days = sorted([(at, "kill") for at in args.kill_at] + [(at, "warn") for at in args.warn_at])
    if life >= len(bad_days) or bad_days[life][0] != number:
        return
    is_last = dist.get_rank() == dist.get_world_size() - 1
    if bad_days[life][1] == "warn" and dist.get_rank() == 0:
        os.kill(os.getpid(), signal.SIGUSR1)
    if bad_days[life][1] == "kill" and args.fatal_for == "node":
        os.kill(os.getppid(), signal.SIGKILL)  # torchrun, which would start this rank again
        os.kill(os.getpid(), signal.SIGKILL)
    if bad_days[life][1] == "kill" and args.fatal_for == "rank" and is_last:
        os.kill(os.getpid(), signal.SIGKILL)
