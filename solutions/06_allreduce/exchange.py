"""Time what travels in one training step: three schemes by size, a straggler, and overlap.

mpirun -np 2 python exchange.py --floats 256 25600 2560000
"""

import argparse
import functools
import statistics
import time

import numpy as np
from mpi4py import MPI

from lessons.toolkit.record import Record

from collectives import overlapped_allreduce, ps_allreduce, ring_allreduce

comm = MPI.COMM_WORLD
SIZES = [256, 2560, 25600, 100_000, 256_000, 1_000_000, 2_560_000]
GRADIENT = 50_890  # floats of lesson 01's network


def library_allreduce(comm, values):
    """What MPI does by itself; in place, as the two by hand."""
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
    """Seconds of one allreduce, for each size and scheme."""
    for floats in sizes:
        values = np.zeros(floats, np.float32)
        repeats = int(min(30, max(5, 3e6 / floats)))
        for scheme, allreduce in SCHEMES.items():
            seconds = timed(functools.partial(allreduce, comm, values), repeats)
            record.measure(
                "allreduce_s", seconds, "s", scheme=scheme, floats=floats, bytes=values.nbytes
            )
            if record.rank == 0:
                print(f"{scheme:8} {values.nbytes:12,} bytes {1e3 * seconds:10.3f} ms")


def straggler(record, delay=0.020):
    """A step with and without a rank that comes too late; how much longer it is for rank 0."""
    matrix = np.ones((128, 128), np.float32)
    gradient = np.zeros(GRADIENT, np.float32)

    def step(sleep):
        matrix @ matrix
        if comm.Get_rank() == comm.Get_size() - 1:
            time.sleep(sleep)
        comm.Allreduce(MPI.IN_PLACE, gradient)

    even = timed(functools.partial(step, 0.0), 20)
    late = timed(functools.partial(step, delay), 20)
    record.measure("step_s", even, "s", straggler_ms=0)
    record.measure("step_s", late, "s", straggler_ms=int(1000 * delay))
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

    def overlapped():
        overlapped_allreduce(comm, backward())

    def computing_only():
        list(backward())

    record.measure("step_s", timed(one_after_the_other, 10), "s", exchange="blocking")
    record.measure("step_s", timed(overlapped, 10), "s", exchange="overlapped")
    record.measure("step_s", timed(computing_only, 10), "s", exchange="computing only")


def command_line():
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument(
        "--floats", type=int, nargs="+", default=SIZES, help="sizes of the arrays to exchange"
    )
    return parser


def main():
    parser = command_line()
    args = parser.parse_args()
    size = comm.Get_size()
    record = Record("06", {}, source="exchange", framework="numpy", rank=comm.Get_rank(), size=size)
    schemes(record, args.floats)
    if size > 1:
        straggler(record)
        overlap(record)
    record.end()


if __name__ == "__main__":
    main()
