"""End all ranks with a loader that fails on rank 0; afterwards each rank ends cleanly."""

import atexit
import os

from mpi4py import MPI

from lessons.toolkit.ranks import DataDistributor

rank = MPI.COMM_WORLD.Get_rank()
atexit.register(lambda: print(f"rank {rank} cleaned up", flush=True))


@DataDistributor(MPI.COMM_WORLD, shutdown_on_error=True)
def get_filenames(path):
    return os.listdir(path)


get_filenames("/no/such/folder")
print("never reached")
