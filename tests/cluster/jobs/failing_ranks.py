"""Fail on two real ranks as beginners' programs do. The first argument says how."""

import os
import signal
import socket
import sys
from datetime import timedelta

import torch
import torch.distributed as dist

from cluster.launchers import launched


def fail(case: str, rank: int) -> None:
    if case == "name":
        if rank == 0:
            order = torch.ones(2)
        dist.all_reduce(order)  # the name
    if case == "index":
        images, labels = torch.rand(8, 4), torch.zeros(100, dtype=torch.long)
        torch.nn.functional.cross_entropy(images, labels)  # the index
    if case == "killed" and rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    if case == "silent" and rank == 1:
        os._exit(3)
    dist.all_reduce(torch.ones(2))


def main(case: str) -> None:
    ranks = launched()
    port = int(os.environ["MASTER_PORT"])
    if case == "ports":
        port += ranks.rank
    if case == "address" and ranks.rank == 0:
        taken = socket.create_server(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    place, wait = f"tcp://127.0.0.1:{port}", timedelta(seconds=3)
    dist.init_process_group("gloo", place, wait, ranks.size, ranks.rank)  # the start
    fail(case, ranks.rank)


main(sys.argv[1])
