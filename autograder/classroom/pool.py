"""Grade many students on all cores."""

import signal
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial

from autograder.classroom.class_settings import ClassSettings
from autograder.classroom.one_unit import Grades, guarded
from autograder.errors import SettingsError
from autograder.submissions.class_folder import Unit

BATCH = 4


def grade_class(
    units: Sequence[Unit], settings: ClassSettings, processes: int, tick: Callable[[int], None]
) -> Grades:
    """Return the grades of all students, in order."""
    found: Grades = {}
    if processes < 2 or len(units) < 2 * BATCH:
        for grades in map(partial(guarded, settings=settings), units):
            found |= grades
            tick(1)
        return found
    with ProcessPoolExecutor(processes, initializer=_start, initargs=(settings,)) as pool:
        try:
            for grades in pool.map(_grade, units, chunksize=BATCH):
                found |= grades
                tick(1)
        except BrokenProcessPool:
            raise SettingsError(
                "a process that graded was killed: grade with --jobs 1, or with more memory"
            ) from None
    return found


_settings: ClassSettings | None = None  # set once per worker process


def _start(settings: ClassSettings) -> None:
    global _settings
    _settings = settings
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when to stop


def _grade(unit: Unit) -> Grades:
    assert _settings is not None
    return guarded(unit, _settings)
