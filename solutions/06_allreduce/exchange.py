"""Time the exchanges of a training step, and compare your ring with the library's allreduce.

mpirun -np 2 python exchange.py --floats 256 25600 2560000

On each rank, this program starts the process that exchanges, and keeps time outside of it.
"""

import argparse
import functools

from lessons.toolkit import clock

SIZES = [256, 2560, 25600, 100_000, 256_000, 1_000_000, 2_560_000]
RACE = 2_560_000  # floats with which the ring is compared with the library


def command_line():
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument(
        "--floats", type=int, nargs="+", default=SIZES, help="sizes of the arrays to exchange"
    )
    return parser


def library():
    """Return MPI's own allreduce, which works in place too. It contains none of your code."""
    from mpi4py import MPI

    return functools.partial(MPI.COMM_WORLD.Allreduce, MPI.IN_PLACE)


def own(job):
    """Return your ring, and a function that times all schemes with your code."""
    import timing

    return functools.partial(timing.add_up, "ring"), functools.partial(
        timing.measure, sizes=job.args.floats
    )


if __name__ == "__main__":
    clock.race(library, own, command_line(), lesson="06", floats=RACE, code="collectives.py")
