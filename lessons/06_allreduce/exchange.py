"""Time what travels in one training step: three schemes by size, a straggler, and overlap.

mpirun -np 2 python exchange.py --floats 256 25600 2560000
"""

import argparse
import statistics
import time

import numpy as np
from mpi4py import MPI

from lessons.toolkit.record import Record

from collectives import overlapped_allreduce, ps_allreduce, ring_allreduce

comm = MPI.COMM_WORLD
GRADIENT = 50_890  # floats of lesson 01's network


def library_allreduce(comm, values):
    comm.Allreduce(MPI.IN_PLACE, values)


SCHEMES = {"server": ps_allreduce, "ring": ring_allreduce, "library": library_allreduce}


def timed(work, repeats):
    """Median seconds of the slowest rank: rank 0's own time would miss a straggler."""
    times = []
    for _ in range(repeats + 1):
        comm.Barrier()
        begin = time.perf_counter()
        work()
        times.append(comm.allreduce(time.perf_counter() - begin, MPI.MAX))
    return statistics.median(times[1:])  # the first pays for buffers and connections


def schemes(record, sizes):
    for floats in sizes:
        values = np.zeros(floats, np.float32)
        repeats = int(min(30, max(5, 3e6 / floats)))
        for scheme, allreduce in SCHEMES.items():
            seconds = timed(lambda f=allreduce, v=values: f(comm, v), repeats)
            point = {"scheme": scheme, "floats": floats, "bytes": values.nbytes}
            record.measure("allreduce_s", seconds, "s", **point)
            if record.rank == 0:
                print(f"{scheme:8} {values.nbytes:12,} bytes {1e3 * seconds:10.3f} ms")


def straggler(record, delay=0.020):
    """A step with and without a rank that comes too late; how much longer it is for rank 0."""
    matrix, gradient = np.ones((128, 128), np.float32), np.zeros(GRADIENT, np.float32)

    def step(sleep):
        matrix @ matrix
        if comm.Get_rank() == comm.Get_size() - 1:
            time.sleep(sleep)
        comm.Allreduce(MPI.IN_PLACE, gradient)

    even, late = (timed(lambda s=sleep: step(s), 20) for sleep in (0.0, delay))
    for sleep, seconds in ((0, even), (int(1000 * delay), late)):
        record.measure("step_s", seconds, "s", straggler_ms=sleep)
    record.measure("straggler_growth_ms", round(1000 * (late - even), 3), "ms")


def overlap(record, layers=6, width=448):
    """A backward pass of equal layers, its gradients exchanged after it or during it."""
    matrix = np.ones((width, width), np.float32)

    def backward():
        for _ in range(layers):
            gradient = matrix @ matrix
            for _ in range(2):
                gradient = matrix @ gradient * np.float32(1 / width)
            yield gradient

    def one_after_the_other():
        for gradient in list(backward()):
            library_allreduce(comm, gradient)

    for mode, work in {
        "blocking": one_after_the_other,
        "overlapped": lambda: overlapped_allreduce(comm, backward()),
        "computing only": lambda: list(backward()),
    }.items():
        record.measure("step_s", timed(work, 10), "s", exchange=mode)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    default = [256, 2560, 25600, 100_000, 256_000, 1_000_000, 2_560_000]
    parser.add_argument("--floats", type=int, nargs="+", default=default)
    args = parser.parse_args()
    rank, size = comm.Get_rank(), comm.Get_size()
    record = Record("06", {}, source="exchange", framework="numpy", rank=rank, size=size)
    schemes(record, args.floats)
    if size > 1:
        straggler(record)
        overlap(record)
    record.end()


if __name__ == "__main__":
    main()
