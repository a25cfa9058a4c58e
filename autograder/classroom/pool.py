"""Grade many students on all cores."""

import ctypes
import resource
import signal
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress

from autograder.classroom.class_settings import ClassSettings
from autograder.classroom.one_unit import Grades, failed, guarded
from autograder.submissions.class_folder import Unit

BATCH = 4
MEMORY_A_WORKER = 2 << 30
PR_SET_PDEATHSIG = 1


def grade_class(
    units: Sequence[Unit], settings: ClassSettings, processes: int, tick: Callable[[int], None]
) -> Grades:
    """Return the grades of all students, in order.

    If a worker dies, the units that are not graded yet get a worker each, one at a time.
    """
    results: list[Grades] = []
    if processes < 2 or len(units) < 2 * BATCH:
        for unit in units:
            results.append(guarded(unit, settings))
            tick(1)
    else:
        with suppress(BrokenProcessPool), workers(processes, settings) as pool:
            for grades in pool.map(_grade, units, chunksize=BATCH):
                results.append(grades)
                tick(1)
        for unit in units[len(results) :]:
            results.append(grade_alone(unit, settings))
            tick(1)
    return {student: grades for result in results for student, grades in result.items()}


def grade_alone(unit: Unit, settings: ClassSettings) -> Grades:
    with workers(1, settings) as pool:
        try:
            return pool.submit(_grade, unit).result()
        except BrokenProcessPool:
            return failed(unit, settings, RuntimeError("the process that graded it was killed"))


def workers(processes: int, settings: ClassSettings) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(processes, initializer=_start, initargs=(settings,))


_settings: ClassSettings | None = None  # set once per worker process


def _start(settings: ClassSettings) -> None:
    global _settings
    _settings = settings
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when to stop
    if sys.platform == "linux":  # otherwise workers of a killed parent wait forever
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_A_WORKER, MEMORY_A_WORKER))


def _grade(unit: Unit) -> Grades:
    assert _settings is not None
    return guarded(unit, _settings)
