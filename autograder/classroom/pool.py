"""Grade submissions on all cores, each with a time limit. If one fails, the others go on."""

import ctypes
import resource
import signal
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress

from autograder.classroom import grading
from autograder.classroom.class_settings import ClassSettings
from autograder.errors import SettingsError
from autograder.submissions.class_folder import Submission
from autograder.verdict import Grade

SECONDS = 600  # for one submission
BATCH = 4
MEMORY_A_WORKER = 2 << 30
PR_SET_PDEATHSIG = 1


class TooLongError(BaseException):
    """Grading a submission took too long.

    This is not an Exception, so code that continues after an unreadable file does not catch it.
    """


def grade_each(
    submissions: Sequence[Submission],
    settings: ClassSettings,
    processes: int,
    tick: Callable[[int], None],
) -> list[Grade]:
    """Return a grade for each submission.

    If a worker dies, the submissions that are not graded yet get a worker each, one at a time.
    """
    grades: list[Grade] = []
    is_small = processes < 2 or len(submissions) < 2 * BATCH  # not worth a pool
    with suppress(BrokenProcessPool), workers(processes, settings) as pool:
        for grade in pool.map(_grade, [] if is_small else submissions, chunksize=BATCH):
            grades.append(grade)
            tick(1)
    grade_next = guarded if is_small else grade_alone
    for submission in submissions[len(grades) :]:
        grades.append(grade_next(submission, settings))
        tick(1)
    return grades


def guarded(submission: Submission, settings: ClassSettings) -> Grade:
    """Grade with a time limit, and turn the grader's own errors into a grade."""
    signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(SECONDS)
    try:
        return grading.grade(submission, settings)
    except SettingsError:
        raise
    except (Exception, TooLongError) as error:
        return grading.grader_error(submission, settings, error)
    finally:
        signal.alarm(0)


def _too_long(signum: int, frame: object) -> None:
    raise TooLongError(f"grading took more than {SECONDS} s")


def grade_alone(submission: Submission, settings: ClassSettings) -> Grade:
    with workers(1, settings) as pool:
        try:
            return pool.submit(_grade, submission).result()
        except BrokenProcessPool:
            killed = RuntimeError("the process that graded it was killed")
            return grading.grader_error(submission, settings, killed)


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


def _grade(submission: Submission) -> Grade:
    assert _settings is not None
    return guarded(submission, _settings)
