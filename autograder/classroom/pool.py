"""Grade many students on all cores. Only changed units are graded."""

import ctypes
import resource
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context

from autograder.classroom import kept
from autograder.classroom.kept import Done
from autograder.classroom.one_unit import Work, failed, guarded
from autograder.submissions.class_folder import Unit

MEMORY_A_WORKER = 2 << 30
BATCH = 4
PR_SET_PDEATHSIG = 1


def grade_class(
    units: Sequence[Unit], work: Work, processes: int, tick: Callable[[int], None]
) -> list[Done]:
    """Return the results of all units in order, publishing each student's grades on the way."""
    finished: dict[str, Done] = {}
    if work.out and work.reuse:
        before = (kept.unchanged(unit, work.settings, work.out) for unit in units)
        finished = {done.unit: done for done in before if done}
    to_do = [unit for unit in units if unit.name not in finished]
    tick(len(finished))
    for done in _all(to_do, work, processes):
        finished[done.unit] = done
        tick(1)
    return [finished[unit.name] for unit in units]


def _all(units: Sequence[Unit], work: Work, processes: int) -> Iterator[Done]:
    if processes < 2 or len(units) < 2 * BATCH:
        yield from (guarded(unit, work) for unit in units)
        return
    batches = [units[i : i + BATCH] for i in range(0, len(units), BATCH)]
    lost = yield from _in_pool(batches, work, processes)
    # A worker process died. Grading each lost unit alone shows which one was the cause.
    for unit in lost:
        for culprit in (yield from _in_pool([[unit]], work, 1)):
            yield failed(culprit, work, MemoryError("the process that graded it was killed"))


def _in_pool(batches: Sequence[Sequence[Unit]], work: Work, processes: int):
    """Yield the finished units. Return the units of work that were lost when a process died."""
    lost: list[Unit] = []
    running: dict[Future, Sequence[Unit]] = {}
    pool = ProcessPoolExecutor(
        processes, get_context("fork"), initializer=_start_worker, initargs=(work,)
    )
    try:
        for batch in batches:
            try:
                running[pool.submit(_work, batch)] = batch
            except BrokenProcessPool:
                lost += batch
        for future in as_completed(running):
            try:
                yield from future.result()
            except BrokenProcessPool:
                lost += running[future]
    finally:
        pool.shutdown(cancel_futures=True)
    return lost


_shared: Work | None = None  # set once per worker process


def _start_worker(work: Work) -> None:
    global _shared
    _shared = work
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when to stop
    if sys.platform == "linux":
        # If the parent is killed, kill its workers too; otherwise they would wait forever.
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_A_WORKER, MEMORY_A_WORKER))


def _work(units: Sequence[Unit]) -> list[Done]:
    assert _shared is not None
    return [guarded(unit, _shared) for unit in units]
