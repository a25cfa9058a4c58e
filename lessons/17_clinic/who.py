"""Print and record where each rank runs: its node, its agent, and the cores that it was given.

torchrun --nproc-per-node=2 who.py
"""

import os
import socket
from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser

import torch.distributed as dist

from lessons.toolkit.record import Run

from ranks import gather, who_am_i


def command_line():
    parser = ArgumentParser(description=__doc__, formatter_class=ArgumentDefaultsHelpFormatter)
    parser.add_argument("--workers", type=int, default=2, help="of a loader, on each rank")
    return parser


def main():
    args = command_line().parse_args()
    rank, size, local_rank = who_am_i()
    dist.init_process_group("gloo", rank=rank, world_size=size)
    # On a laptop, COURSE_HOST makes two nodes of one machine.
    host = os.environ.get("COURSE_HOST") or socket.gethostname()
    agent = f"{host}, process {os.getppid()}"  # torchrun is the parent of the ranks that it starts
    cores = int(os.environ.get("CORES_OF_RANK", 0)) or len(os.sched_getaffinity(0))
    print(f"rank {rank} of {size}: local rank {local_rank} of {agent}, {cores} cores", flush=True)

    run = Run("17", args, source="nodes", simulated="COURSE_HOST" in os.environ)
    everyone = gather((host, agent, cores))
    run.measure("nodes_used", len({host for host, _, _ in everyone}))
    run.measure("agents", len({agent for _, agent, _ in everyone}))
    run.measure("cores_of_rank", min(cores for _, _, cores in everyone))
    run.end()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
