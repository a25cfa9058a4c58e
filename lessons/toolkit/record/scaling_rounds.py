"""Measure, in rounds, the time of a pass over the data on 1, 2, 4 … of a launch's ranks.

    scaling_rounds.measure(run, MPI.COMM_WORLD, passes=…, params=…, local_batches=…)

A round makes a pass on each number of ranks, one right after the other, while the remaining ranks
sleep. Every second round runs in reverse order. Other load on the machine therefore affects all
sizes equally. The record gets a line for each size in each round (docs/run-record.md). It contains
the seconds of the slowest rank, and the number of samples read, counted from the indices that the
pass returns.

With `silent`, a round has one more phase, in which all ranks make the pass of a single rank at the
same time and exchange nothing. As for a speed job, the record reports this phase in the line
`round`, with the seconds of one rank alone and of all ranks together.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lessons.toolkit.record.reading import what_was_read
from lessons.toolkit.record.run import Run
from lessons.toolkit.record.run_record import short, synchronise

Pass = Callable[[int], Sequence[Any]]  # its number -> the indices of each step
Arrays = Callable[[], Sequence[Any]]

SILENT = 0  # the key of the phase in which all ranks are silent
PAUSE_S = 0.0005  # sleep between two checks of a waiting rank


def measure(
    run: Run,
    comm: Any,
    *,
    passes: Mapping[int, Pass],
    params: Mapping[int, Arrays],
    local_batches: Mapping[int, int],
    silent: Pass | None = None,
    rounds: int = 8,
) -> None:
    """Warm up every phase, then measure the rounds. All ranks call it, with all sizes.

    comm: an mpi4py communicator of all ranks; passes[p] is called on its first p ranks.

    params[p]: a function that returns the trainable parameters of the network that p ranks train,
    as NumPy arrays.
    """
    sizes = sorted(passes)
    groups = {p: comm.Split(0 if comm.Get_rank() < p else 1, comm.Get_rank()) for p in sizes}
    phases = [*sizes, *([SILENT] if silent else [])]
    doing = {**passes, **({SILENT: silent} if silent else {})}
    for phase in phases:
        timed(comm, phase, doing[phase], 0)
    for number in range(1, rounds + 1):
        seconds, points = {}, {}
        for phase in phases if number % 2 else phases[::-1]:
            before = [array.copy() for array in params[phase or 1]()]
            seconds[phase], read = timed(comm, phase, doing[phase], number)
            if phase == SILENT or comm.Get_rank() >= phase:
                continue
            after, group = params[phase](), groups[phase]
            points[phase] = {
                "round": number,
                "ranks": phase,
                "local_batch": local_batches[phase],
                "steps": max(group.allgather(len(read))),
                **what_all_read(group, read),
                "moved": short(least_change(group, before, after)),
                "spread": short(spread(group, after)),
            }
        if comm.Get_rank() == 0:
            tell(run, number, seconds, points)


def tell(run: Run, number: int, seconds: Mapping[int, float], points: Mapping) -> None:
    for size in sorted(points):
        run.measure("point", seconds[size], "s", **points[size])
    if SILENT in seconds:
        largest = points[max(points)]
        run.measure(
            "round",
            seconds[max(points)],
            "s",
            round=number,
            alone_s=seconds[1],
            silent_s=seconds[SILENT],
            steps=largest["steps"],
            samples=largest["local_batch"],
            moved=largest["moved"],
            spread=largest["spread"],
        )


def timed(comm: Any, phase: int, make_pass: Pass, number: int) -> tuple[float, Sequence[Any]]:
    """Return the seconds of the slowest rank, and the samples that this rank read.

    The clock starts when all ranks are ready.
    """
    read: Sequence[Any] = ()
    wait(comm)
    comm.Barrier()
    began = time.perf_counter()
    if phase == SILENT or comm.Get_rank() < phase:
        read = make_pass(number)
        synchronise()
    seconds = time.perf_counter() - began
    wait(comm)
    return round(max(comm.allgather(seconds)), 6), read


def what_all_read(group: Any, read: Sequence[Any]) -> dict[str, int]:
    """Return how many distinct samples the ranks of a pass read together, and how many in total."""
    steps = [
        step for rank in group.allgather([list(map(int, step)) for step in read]) for step in rank
    ]
    found = what_was_read(steps) or {"distinct": 0, "total": 0}
    return {"samples": found["distinct"], "read": found["total"]}


def wait(comm: Any) -> None:
    """Wait for all ranks, leaving the core to other processes meanwhile.

    MPI's own barrier keeps the core busy, because it polls all the time.
    """
    arrived = comm.Ibarrier()
    while not arrived.Test():
        time.sleep(PAUSE_S)


def least_change(comm: Any, before: Sequence[Any], after: Sequence[Any]) -> float:
    """Return the largest parameter change on the rank where it is smallest."""
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
