"""Measure, in rounds, the time of a pass over the data on 1, 2, 4 … of a launch's ranks.

    scaling_rounds.measure(run, MPI.COMM_WORLD, passes=…, params=…, local_batches=…)

A round makes a pass on each number of ranks, one right after the other, while the remaining ranks
sleep. Every second round runs in reverse order. Other load on the machine therefore affects all
sizes equally. The record gets a line for each size in each round (docs/run-record.md).

With `silent`, a round has one more phase, in which all ranks make the pass of a single rank at the
same time and exchange nothing. As for a speed job, the line `round` reports this phase.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lessons.toolkit.record.parameters import moved, pieces, spread, worst
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

    comm: an mpi4py communicator of all ranks; passes[p] is called on its first p ranks. params[p]
    returns the trainable parameters of the network that p ranks train, as NumPy arrays.
    """
    groups = {p: comm.Split(0 if comm.rank < p else 1, comm.rank) for p in passes}
    phases = dict(sorted(passes.items())) | ({SILENT: silent} if silent else {})
    for phase, make_pass in phases.items():
        timed(comm, phase, make_pass, 0)
    for number in range(1, rounds + 1):
        seconds, points = {}, {}
        for phase in phases if number % 2 else reversed(phases):
            before = [array.copy() for array in params[phase or 1]()]
            seconds[phase], read = timed(comm, phase, phases[phase], number)
            if phase == SILENT or comm.rank >= phase:
                continue
            after, everyone = list(params[phase]()), groups[phase].allgather
            samples = set().union(*everyone({int(index) for step in read for index in step}))
            points[phase] = {
                "round": number,
                "ranks": phase,
                "local_batch": local_batches[phase],
                "steps": max(everyone(len(read))),
                "samples": len(samples),
                # For the rank where it is smallest; NaN if it is NaN on one of them.
                "moved": short(-worst(-each for each in everyone(moved(before, after)[0]))),
                "spread": short(spread(map(everyone, pieces(after)))),
            }
        for size in sorted(points) if comm.rank == 0 else ():
            run.measure("point", seconds[size], "s", **points[size])
        if SILENT in seconds and comm.rank == 0:
            largest = points[max(points)]
            facts = {name: largest[name] for name in ("round", "steps", "moved", "spread")}
            facts |= {"alone_s": seconds[1], "silent_s": seconds[SILENT]}
            run.measure("round", seconds[max(points)], "s", samples=largest["local_batch"], **facts)


def timed(comm: Any, phase: int, make_pass: Pass, number: int) -> tuple[float, Sequence[Any]]:
    """Return the slowest rank's seconds after all were ready, and the samples this rank read."""
    read: Sequence[Any] = ()
    wait(comm)
    comm.Barrier()
    began = time.perf_counter()
    if phase == SILENT or comm.rank < phase:
        read = make_pass(number)
        synchronise()
    seconds = time.perf_counter() - began
    wait(comm)
    return round(max(comm.allgather(seconds)), 6), read


def wait(comm: Any) -> None:
    """Wait for all ranks. MPI's own barrier polls all the time and keeps the core busy."""
    arrived = comm.Ibarrier()
    while not arrived.Test():
        time.sleep(PAUSE_S)
