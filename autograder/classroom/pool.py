"""Grade many students on all cores.

Only changed units are graded, and an interruption loses no results. After each unit, its pages and
records are written, then its state.
"""

import ctypes
import resource
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from autograder.classroom import kept, late_days, one_submission, one_unit
from autograder.classroom.class_settings import ClassSettings
from autograder.classroom.kept import Done
from autograder.classroom.rows import row_of
from autograder.errors import SettingsError
from autograder.safe_text import file_name
from autograder.submissions.class_folder import Unit
from autograder.verdict import GRADER_ERROR, Grade

SECONDS_A_UNIT = 600
MEMORY_A_WORKER = 2 << 30
BATCH = 4
PR_SET_PDEATHSIG = 1


class TooLongError(BaseException):
    """Grading a unit took too long.

    This is not an Exception, so code that continues after an unreadable file does not catch it.
    """


Publish = Callable[[str, Sequence[Grade], str], None]  # student, grades, name of the page


@dataclass(frozen=True, slots=True)
class Work:
    """The data that every grading process needs."""

    settings: ClassSettings
    out: Path | None  # the folder for results; None: nothing is kept
    publish: Publish
    reuse: bool = True  # reuse the results of unchanged units


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


# --- one unit -------------------------------------------------------------------------------


def grade_unit(unit: Unit, work: Work) -> Done:
    """Grade a unit, publish it, and then save its state.

    A saved state therefore means that the pages exist.
    """
    settings = work.settings
    key = kept.state_of(unit, settings) if work.out else ""
    marked = one_unit.mark_unit(unit, settings)
    grades = {
        student: late_days.apply(mine, settings.policy, student) for student, mine in marked.items()
    }
    for student, mine in grades.items():
        mine += late_days.only_by_hand(student, {grade.lesson for grade in mine}, settings)
    if any(grade.status == GRADER_ERROR for mine in grades.values() for grade in mine):
        key = ""  # grade it again next time
    done = publish(unit, grades, work, key)
    if work.out:
        kept.keep(work.out, done)
    return done


def publish(unit: Unit, grades: Mapping[str, Sequence[Grade]], work: Work, key: str = "") -> Done:
    rows = []
    for student, mine in grades.items():
        page = f"{file_name(student)}.html"
        work.publish(student, mine, page)
        rows += [row_of(one, page, unit.partners_of(student, one.lesson)) for one in mine]
    return Done(unit.name, key, tuple(rows))


def failed(unit: Unit, work: Work, error: BaseException) -> Done:
    lessons = sorted({one.lesson for one in unit.submissions if one.lesson}) or ["?"]
    grades = {
        student: [
            one_submission.grader_error(student, lesson, work.settings, error) for lesson in lessons
        ]
        for student in unit.students
    }
    return publish(unit, grades, work)


# --- many units -----------------------------------------------------------------------------

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


def guarded(unit: Unit, work: Work) -> Done:
    """Grade a unit with a time limit, and turn the grader's own errors into a grade."""
    signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(SECONDS_A_UNIT)
    try:
        return grade_unit(unit, work)
    except SettingsError:
        raise
    except (Exception, TooLongError) as error:
        return failed(unit, work, error)
    finally:
        signal.alarm(0)


def _too_long(signum: int, frame: object) -> None:
    raise TooLongError(f"grading took more than {SECONDS_A_UNIT} s")


def _all(units: Sequence[Unit], work: Work, processes: int) -> Iterator[Done]:
    if processes < 2 or len(units) < 2 * BATCH:
        for unit in units:
            yield guarded(unit, work)
        return
    batches = [units[i : i + BATCH] for i in range(0, len(units), BATCH)]
    lost = yield from _in_pool(batches, work, processes)
    # A worker process died. Grading each lost unit alone shows which one was the cause.
    for unit in lost:
        again = yield from _in_pool([[unit]], work, 1)
        for culprit in again:
            error = MemoryError("the process that graded it was killed")
            yield failed(culprit, work, error)


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
