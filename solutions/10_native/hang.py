"""Let one rank step alone while others wait: where does each one wait, and when does it end?

torchrun --nproc-per-node=2 hang.py --timeout 6
"""

import ctypes
import datetime
import faulthandler
import os
import subprocess
import sys
import threading
from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.distributed_c10d import _set_pg_timeout

import train
from ranks import who_am_i

ANYBODY = (0x59616D61, ctypes.c_ulong(-1))  # PR_SET_PTRACER: allows others to inspect this process


def command_line():
    parser = ArgumentParser(description=__doc__, formatter_class=ArgumentDefaultsHelpFormatter)
    parser.add_argument("--timeout", type=float, default=6, help="seconds to wait for a rank")
    parser.add_argument("--look-after", type=float, default=2, help="seconds until stacks are kept")
    parser.add_argument("--seed", type=int, default=1, help="where all random numbers begin")
    return parser


def step_in_no_sync(model, optimizer, loss_function, x, y):
    """Train on this rank only. This looks right, because no gradients travel in no_sync."""
    with model.no_sync():
        loss, _ = train.train_step(model, optimizer, loss_function, x, y)
    return loss.item()  # NCCL only queues its messages: on a GPU, Python waits here


def keep_stack(rank):
    """Save this process's stack, as py-spy sees it; without permission, as Python sees it."""
    ctypes.CDLL(None).prctl(*ANYBODY)
    file = Path(f"stack_of_rank_{rank}.txt")
    try:
        found = subprocess.run(
            ["py-spy", "dump", "--pid", str(os.getpid())],
            env=os.environ | {"NO_COLOR": "1"},
            capture_output=True,
            text=True,
        )
        reason = found.stderr.strip().splitlines()[-1:] if found.returncode else []
    except FileNotFoundError:
        found, reason = None, ["it is not installed"]
    if reason:
        print(f"py-spy could not look at rank {rank} ({reason[0]}): faulthandler does", flush=True)
        with file.open("w") as out:
            faulthandler.dump_traceback(out)
    else:
        file.write_text(found.stdout)
    print(f"rank {rank} still waits; where, is in {file}", flush=True)


def main():
    args = command_line().parse_args()

    rank, size, local_rank = who_am_i()
    if size < 2:
        sys.exit("hang.py needs at least two ranks: one alone waits for nobody.")
    Path(f"stack_of_rank_{rank}.txt").unlink(missing_ok=True)  # left by an earlier run
    device = train.start_ranks(rank, size, local_rank, datetime.timedelta(minutes=5))
    pause = dist.new_group(backend="gloo")
    torch.manual_seed(args.seed)
    plain = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8), nn.Linear(8, 2)).to(device)
    model = train.distribute(plain, device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    batch = torch.randn(16, 8, device=device), torch.randint(0, 2, (16,), device=device)
    step = (model, optimizer, nn.CrossEntropyLoss(), *batch)
    for _ in range(3):  # with all ranks, because DDP sorts its gradients in the first steps
        train.train_step(*step)
    # Only now, because on a busy machine the start alone may take longer.
    _set_pg_timeout(datetime.timedelta(seconds=args.timeout))
    watch = threading.Timer(args.look_after, keep_stack, [rank])
    watch.daemon = True
    watch.start()
    if rank == 0:
        print("This job is meant to fail: rank 1 makes a step alone, in no_sync.", flush=True)
    if rank == 1:  # not rank 0: it sends DDP's buffers, and with NCCL a sender does not wait
        step_in_no_sync(*step)
    dist.barrier(pause)
    watch.cancel()
    print(f"Rank {rank} goes on: nobody has waited.", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
