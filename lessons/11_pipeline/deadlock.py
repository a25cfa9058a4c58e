"""Swap arrays between two ranks in four orders. In some of them, both ranks wait until a timeout.

mpirun -np 2 python deadlock.py --timeout 5
"""

import os
import time
from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser
from datetime import timedelta

import torch
import torch.distributed as dist

from cluster.launchers import launched
from lessons.toolkit.ranks.leaving import leave
from lessons.toolkit.record import Run


def both_receive(mine, theirs, other):
    """Let both ranks receive before they send."""
    dist.recv(theirs, other)
    dist.send(mine, other)


def both_send(mine, theirs, other):
    """Let both ranks send. `send` returns only when the other rank has received."""
    dist.send(mine, other)
    dist.recv(theirs, other)


def send_without_waiting(mine, theirs, other):
    """Start to send, receive, and only then wait for the sending."""
    message = dist.isend(mine, other)
    dist.recv(theirs, other)
    message.wait()


def in_one_batch(mine, theirs, other):
    """Start both messages together. Their order in the list does not matter."""
    both = [dist.P2POp(dist.irecv, theirs, other), dist.P2POp(dist.isend, mine, other)]
    for message in dist.batch_isend_irecv(both):
        message.wait()


ORDERS = (in_one_batch, send_without_waiting, both_receive, both_send)


def command_line():
    parser = ArgumentParser(description=__doc__, formatter_class=ArgumentDefaultsHelpFormatter)
    parser.add_argument("--timeout", type=int, default=5, help="seconds until a wait is an error")
    return parser


def main():
    args = command_line().parse_args()
    me = launched()  # not who_am_i: arrays that wait for each other need no GPU
    if me is None or me.size != 2:
        leave(me.rank if me else 0, "deadlock.py wants two ranks: start it by mpirun or srun")
    rank = me.rank
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")  # a job sets both
    port = int(os.environ.get("MASTER_PORT", 20000 + os.getppid() % 10000))
    run = Run("11", args, source="deadlock", rank=rank, size=2, local_rank=me.local_rank)
    other = 1 - rank
    for number, order in enumerate(ORDERS):
        os.environ["MASTER_PORT"] = str(port + number)  # a connection that timed out is closed
        waits = timedelta(seconds=args.timeout)
        dist.init_process_group("gloo", rank=rank, world_size=2, timeout=waits)
        mine, theirs = torch.full((500_000,), float(rank)), torch.empty(500_000)
        began = time.perf_counter()
        try:
            order(mine, theirs, other)
            said = "done" if theirs[0] == other else "wrong numbers"
        except RuntimeError as error:
            # without gloo's file name and advice
            said = str(error).partition("] ")[2].partition(". ")[0]
        seconds = time.perf_counter() - began
        print(f"rank {rank}, {order.__name__}: {seconds:.1f} s: {said}", flush=True)
        run.measure("waited_s", seconds, "s", order=order.__name__, said=said)
        dist.destroy_process_group()
    run.end()


if __name__ == "__main__":
    main()
