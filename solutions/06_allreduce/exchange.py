"""Time the exchanges of a training step: three schemes by size, a straggler, and overlap.

mpirun -np 2 python exchange.py --floats 256 25600 2560000
"""

import functools
import statistics
import time
from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser

import numpy as np
from mpi4py import MPI

from lessons.toolkit.checks.lesson_06.allreduce import arrays_moved, check_6_1, check_6_2, check_6_5
from lessons.toolkit.checks.shared.measure import check_fails
from lessons.toolkit.probes.collectives import largest_error
from lessons.toolkit.ranks.counting import CountingComm, arrays_to_send
from lessons.toolkit.record import Run

from collectives import overlapped_allreduce, ps_allreduce, ring_allreduce

comm = CountingComm()
SIZES = [256, 2560, 25600, 100_000, 256_000, 1_000_000, 2_560_000]
GRADIENT = 50_890  # size of lesson 01's network in floats
random = np.random.default_rng()  # different numbers on every rank and in every run


def command_line():
    parser = ArgumentParser(description=__doc__, formatter_class=ArgumentDefaultsHelpFormatter)
    parser.add_argument(
        "--floats", type=int, nargs="+", default=SIZES, help="sizes of the arrays to exchange"
    )
    return parser


def library_allreduce(comm, values):
    """Add up with MPI's own allreduce, in place as in the two by hand."""
    comm.Allreduce(MPI.IN_PLACE, values)


SCHEMES = {"server": ps_allreduce, "ring": ring_allreduce, "library": library_allreduce}
sent = {"server": [], "ring": []}  # by this rank, each as a share of what it has to send


def add_up(scheme, values):
    """Add up over all ranks, in place, and count what this rank sends."""
    before = comm.sent
    SCHEMES[scheme](comm, values)
    if scheme in sent and comm.Get_size() > 1:
        needed = values.nbytes * arrays_to_send(scheme, comm.Get_rank(), comm.Get_size())
        sent[scheme].append((comm.sent - before) / needed)


def timed(work):
    """Return the slowest rank's seconds (rank 0's would miss a straggler), and work's result."""
    comm.Barrier()
    begin = time.perf_counter()
    result = work()
    return comm.allreduce(time.perf_counter() - begin, MPI.MAX), result


def fresh(floats):
    """Return whole numbers that no other rank knows, and the library's exact sum of them."""
    values = random.integers(-99, 100, floats).astype(np.float32)
    total = np.empty_like(values)
    comm.Allreduce(values, total)
    return values, total


def schemes(run, sizes):
    """Measure the seconds of an allreduce for each size and scheme, in turns; check every sum."""
    worst = dict.fromkeys(SCHEMES, 0.0)
    for floats in sizes:
        rounds = {scheme: [] for scheme in SCHEMES}
        repeats = int(min(30, max(5, 3e6 / floats)))
        for number in range(repeats + 1):
            for scheme in SCHEMES:
                values, exact = fresh(floats + (number == 0))  # first, chunks of unequal length
                seconds, _ = timed(functools.partial(add_up, scheme, values))
                error = comm.allreduce(largest_error([values], [exact]), MPI.MAX)
                worst[scheme] = max(worst[scheme], error)
                rounds[scheme].append(seconds)
        # The first round includes making buffers and connections.
        for scheme, (_, *times) in rounds.items():
            seconds, size = statistics.median(times), 4 * floats
            run.measure("allreduce_s", seconds, "s", scheme=scheme, floats=floats, bytes=size)
            if comm.Get_rank() == 0:
                print(f"{scheme:8} {size:12,} bytes {1e3 * seconds:10.3f} ms")
    for scheme, error in worst.items():
        run.measure("allreduce_error", error, scheme=scheme)
    for scheme, shares in sent.items():
        least = comm.allreduce(min(shares, default=1.0), MPI.MIN)
        run.measure("share_sent", least, scheme=scheme)
    if comm.Get_rank() == 0:  # on more ranks, which are simulated
        for scheme, check in {"server": check_6_1, "ring": check_6_2}.items():
            wrong = check_fails(check, SCHEMES[scheme])
            moved = None if wrong else arrays_moved(SCHEMES[scheme], 4)
            run.measure("arrays_moved", moved, "arrays", scheme=scheme, ranks=4)
        started = 0 if check_fails(check_6_5, overlapped_allreduce) else 2
        run.measure("under_way", started, "arrays", arrays=3)


def straggler(run, delay=0.020):
    """Measure how much longer a step with a late rank takes for rank 0."""
    matrix = np.ones((128, 128), np.float32)
    gradient = np.zeros(GRADIENT, np.float32)

    def step(sleep):
        matrix @ matrix
        if comm.Get_rank() == comm.Get_size() - 1:
            time.sleep(sleep)
        comm.Allreduce(MPI.IN_PLACE, gradient)

    even, late = (
        statistics.median(timed(functools.partial(step, sleep))[0] for _ in range(20))
        for sleep in (0.0, delay)
    )
    run.measure("step_s", even, "s", straggler_ms=0)
    run.measure("step_s", late, "s", straggler_ms=int(1000 * delay))
    run.measure("straggler_growth_ms", round(1000 * (late - even), 3), "ms")


def overlap(run, layers=6, width=448, rounds=6):
    """Time a backward pass of equal layers, with the exchange after it or during it, in turns."""
    matrix = np.empty((width, width), np.float32)

    def backward():
        for _ in range(layers):
            gradient = matrix @ matrix
            for _ in range(2):
                gradient = matrix @ gradient * np.float32(1 / width)
            yield gradient

    def one_after_the_other():
        gradients = list(backward())
        for gradient in gradients:
            library_allreduce(comm, gradient)
        return gradients

    def overlapped():
        return overlapped_allreduce(comm, backward())

    def computing_only():
        return list(backward())

    ways = {
        "blocking": one_after_the_other,
        "overlapped": overlapped,
        "computing only": computing_only,
    }
    times = {way: [] for way in ways}
    worst = 0.0
    for _ in range(rounds + 1):
        matrix[:] = random.random(matrix.shape)
        sums = {}
        for way, work in ways.items():
            seconds, sums[way] = timed(work)
            times[way].append(seconds)
        error = largest_error(sums["overlapped"], sums["blocking"])
        worst = max(worst, comm.allreduce(error, MPI.MAX))
    for way, (_, *later) in times.items():
        run.measure("step_s", statistics.median(later), "s", exchange=way)
    run.measure("allreduce_error", worst, scheme="overlapped")


def main():
    args = command_line().parse_args()
    run = Run("06", source="exchange")
    schemes(run, args.floats)
    if run.size > 1:
        straggler(run)
        overlap(run)
    run.end()


if __name__ == "__main__":
    main()
