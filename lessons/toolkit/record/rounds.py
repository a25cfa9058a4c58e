"""How much faster N ranks are than one, measured in one launch, beside what the machine can give.

    from mpi4py import MPI

    rounds.measure(record, MPI.COMM_WORLD, silent=…, together=…, params=…, samples=64)

A round is three phases in the same processes, right after one another, so that whatever else the
machine does hits all three: *alone*, where rank 0 steps and the others sleep; *silent*, where all
step and nothing is exchanged; *together*, where the gradients are averaged. Every other round goes
backwards. A phase lasts as long as its slowest rank. The record gets one line a round, and the
grader compares the phases of one round with each other (docs/run-record.md).

The program gives two functions that each make one step, with networks of their own: what is not
averaged drifts apart. Which framework they use, and how they exchange, is theirs.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any

from lessons.toolkit.record.epoch_clock import synchronise
from lessons.toolkit.record.record import Record

PHASES = ("alone", "silent", "together")
PAUSE_S = 0.0005  # how long who waits sleeps before it looks again

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

    comm: a communicator of mpi4py, of all ranks.
    params: gives the trainable parameters of the network that steps together, as NumPy arrays.
    samples: of a step, on one rank.
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
    """Of the slowest rank, from a moment when all are ready."""
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
    """A barrier in which who waits leaves the core to others; MPI's own asks over and over."""
    arrived = comm.Ibarrier()
    while not arrived.Test():
        time.sleep(PAUSE_S)


def least_change(comm: Any, before: Sequence[Any], after: Sequence[Any]) -> float:
    """By how much the parameter that moved most did, on the rank where that was least."""
    import numpy as np

    pairs = zip(before, after, strict=True)
    moved = max(float(np.abs(new - old).max()) for old, new in pairs)
    return float(np.min(comm.allgather(moved)))


def spread(comm: Any, arrays: Sequence[Any]) -> float:
    """The largest difference of one parameter between any two ranks; NaN if one is no number."""
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
