"""Report where this program runs: one line per task, then two seconds of matrix products.

python train.py            one task, here
mpirun -np 2 python train.py
"""

import os
import socket
import sys
import time
from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser

import numpy as np

from lessons.toolkit.checks.lesson_00 import check_0_2
from lessons.toolkit.checks.shared.measure import check_fails
from lessons.toolkit.record import Run

# The same three facts as named by Open MPI, Slurm and Cray MPICH. Slurm comes after Open MPI:
# inside `sbatch`, an `mpirun` leaves SLURM_PROCID the same in all processes of a node.
NAMES = {
    "rank": ("OMPI_COMM_WORLD_RANK", "SLURM_PROCID", "PMI_RANK"),
    "size": ("OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS", "PMI_SIZE"),
    "local_rank": ("OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID", "PMI_LOCAL_RANK"),
}


def facts(environ):
    """Return rank, size and local_rank of this task; 0, 1 and 0 without a launcher."""
    found = {"rank": 0, "size": 1, "local_rank": 0}
    raise NotImplementedError(
        "Exercise 0.2: put the three facts of this task into `found`, from environ"
    )
    return found


def gflops(seconds, n=512):
    """Return the billions of operations per second in float32 products of n x n matrices."""
    a = np.ones((n, n), dtype=np.float32)
    a @ a  # the first product also starts threads
    products = 0
    start = time.monotonic()
    while time.monotonic() - start < seconds:
        a @ a
        products += 1
    return products * 2 * n**3 / (time.monotonic() - start) / 1e9


def command_line():
    parser = ArgumentParser(description=__doc__, formatter_class=ArgumentDefaultsHelpFormatter)
    parser.add_argument("--seconds", type=float, default=2.0, help="seconds of matrix products")
    return parser


def main():
    args = command_line().parse_args()

    me = facts(os.environ)
    cores = len(os.sched_getaffinity(0))
    run = Run("00", args, source="facts", **me)
    print(f"task {me['rank']} of {me['size']} on {socket.gethostname()}, {cores} cores", flush=True)
    if me["rank"] == 0:
        print("This line is a warning: it belongs to the error stream.", file=sys.stderr)
    run.measure("matrix products", gflops(args.seconds), "GFLOP/s", cores=cores)
    run.measure("facts_wrong", check_fails(check_0_2, facts))  # with other launchers
    run.end()


if __name__ == "__main__":
    main()
