"""Measure, in one launch, how much faster N ranks are than one, and the machine's own limit.

    from mpi4py import MPI

    rounds.measure(record, MPI.COMM_WORLD, silent=…, together=…, params=…, samples=64)

A round has three phases in the same processes, right after one another: *alone*, where rank 0 steps
and the others sleep; *silent*, where all ranks step and exchange nothing; *together*, where the
gradients are averaged. Other load on the machine therefore affects all three. Every second round
runs in reverse order. A phase lasts as long as its slowest rank. The record gets one line per
round, and the grader compares the phases of one round with each other (docs/run-record.md).

The program passes two functions that each make one step. Each has its own network, because ranks
that average nothing drift apart. These functions choose the framework and the way to exchange
gradients.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any

from lessons.toolkit.record.epoch_clock import synchronise
from lessons.toolkit.record.record import Record

PHASES = ("alone", "silent", "together")
PAUSE_S = 0.0005  # sleep between two checks of a waiting rank

Step = Callable[[], Any]
Arrays = Callable[[], Sequence[Any]]


def measure(
    record: Record,
    comm: Any,
    *,
    silent: Step,
    together: Step,
    params: Arrays,
    samples: int,
    rounds: int = 12,
    steps: int = 4,
    warm_up: int = 2,
) -> None:
    """Warm up every phase, then measure the rounds. All ranks call it.

    comm: an mpi4py communicator of all ranks.

    params: a function that returns the trainable parameters of the network that steps together, as
    NumPy arrays.

    samples: samples per step on one rank.
    """
    doing = {"alone": silent, "silent": silent, "together": together}
    for phase in PHASES:
        seconds_of(comm, phase, doing[phase], warm_up)
    for number in range(1, rounds + 1):
        before = [array.copy() for array in params()]
        order = PHASES if number % 2 else PHASES[::-1]
        seconds = {phase: seconds_of(comm, phase, doing[phase], steps) for phase in order}
        after = params()
        record.measure(
            "round",
            seconds["together"],
            "s",
            round=number,
            alone_s=seconds["alone"],
            silent_s=seconds["silent"],
            steps=steps,
            samples=samples,
            moved=least_change(comm, before, after),
            spread=spread(comm, after),
        )


def seconds_of(comm: Any, phase: str, step: Step, steps: int) -> float:
    """Return the time of the slowest rank in seconds, from a moment when all ranks are ready."""
    wait(comm)
    comm.Barrier()
    began = time.perf_counter()
    if phase != "alone" or comm.Get_rank() == 0:
        for _ in range(steps):
            step()
        synchronise()
    seconds = time.perf_counter() - began
    wait(comm)
    return round(max(comm.allgather(seconds)), 6)


def wait(comm: Any) -> None:
    """Wait for all ranks, and leave the core to other processes while waiting.

    MPI's own barrier polls all the time.
    """
    arrived = comm.Ibarrier()
    while not arrived.Test():
        time.sleep(PAUSE_S)


def least_change(comm: Any, before: Sequence[Any], after: Sequence[Any]) -> float:
    """Return the largest change of any parameter, on the rank where that change is smallest."""
    import numpy as np

    pairs = zip(before, after, strict=True)
    moved = max(float(np.abs(new - old).max()) for old, new in pairs)
    return float(np.min(comm.allgather(moved)))


def spread(comm: Any, arrays: Sequence[Any]) -> float:
    """Return the largest difference between two ranks in any parameter; NaN if one is NaN."""
    import numpy as np
    from mpi4py import MPI

    if not all(comm.allgather(all(bool(np.isfinite(array).all()) for array in arrays))):
        return float("nan")
    widest = 0.0
    for array in arrays:
        mine = np.ascontiguousarray(array)
        lowest, highest = np.empty_like(mine), np.empty_like(mine)
        comm.Allreduce(mine, lowest, op=MPI.MIN)
        comm.Allreduce(mine, highest, op=MPI.MAX)
        widest = max(widest, float((highest - lowest).max()))
    return widest
