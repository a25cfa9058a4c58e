"""Grade many students: on all cores, only what changed, and so that a kill loses nothing.

Each student's page, record and then state are written when the student is done.
"""

import ctypes
import resource
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from autograder.classroom import kept, late_days, one_student
from autograder.classroom.class_settings import ClassSettings
from autograder.classroom.kept import Done
from autograder.classroom.rows import row_of
from autograder.errors import SettingsError
from autograder.safe_text import file_name, printable
from autograder.submissions.students import Student
from autograder.verdict import GRADER_ERROR, Grade
from autograder.writing import write_if_new

SECONDS_A_STUDENT = 600
MEMORY_A_WORKER = 2 << 30
BATCH = 4
PR_SET_PDEATHSIG = 1


class TooLongError(BaseException):
    """No Exception: whoever goes on after a file that cannot be read must not go on after this."""


Publish = Callable[[Student, Sequence[Grade], str], None]  # writes a student's page of that name


@dataclass(frozen=True, slots=True)
class Work:
    """What every process that grades is given."""

    settings: ClassSettings
    out: Path | None = None  # what is kept lies here; None: nothing is
    publish: Publish | None = None
    reuse: bool = True  # what was graded before and is the same now


def grade_class(
    students: Sequence[Student],
    work: Work,
    processes: int,
    tick: Callable[[int], None] = lambda count: None,
    index: str = kept.INDEX,
) -> list[Done]:
    """All students in order; what `work` publishes of each is written on the way."""
    out = work.out
    known = kept.read_index(out / index) if out else {}
    finished: dict[str, Done] = {}
    to_do = []
    for student in students:
        key = kept.state_of(student, work.settings) if out else ""
        before = known.get(student.name)
        same = work.reuse and before is not None and before.key == key != ""
        if out and before and same and kept.pages_there(out, before):
            finished[student.name] = before
        else:
            to_do.append(student)
    tick(len(finished))
    for done in _all(to_do, work, processes):
        finished[done.student] = done
        tick(1)
    in_order = [finished[student.name] for student in students]
    if out is not None:
        kept.write_index(out / index, in_order)
    return in_order


# --- one student ----------------------------------------------------------------------------


def grade_student(student: Student, work: Work) -> Done:
    """Grade, publish and last keep the state: whoever finds the state finds the pages."""
    settings, out = work.settings, work.out
    key = kept.state_of(student, settings) if out else ""
    state = out / kept.STATES / f"{file_name(student.name)}.json" if out else None
    if out and state and key and work.reuse:
        before = kept.read_state(state, student.name, key)
        if before and kept.pages_there(out, before):
            return before
    grades = one_student.mark_student(student, settings)
    grades = late_days.apply(grades, settings.policy, student.name)
    submitted = {grade.lesson for grade in grades}
    grades += late_days.only_by_hand(student.name, submitted, settings)
    if any(grade.status == GRADER_ERROR for grade in grades):
        key = ""  # try again next time
    done = publish(student, grades, work, key)
    if state:
        write_if_new(state, kept.as_line(done))
    return done


def publish(student: Student, grades: Sequence[Grade], work: Work, key: str = "") -> Done:
    page = f"{file_name(student.name)}.html"
    if work.publish:
        work.publish(student, grades, page)
    rows = (row_of(grade, page, partners_of(student, grade.lesson)) for grade in grades)
    return Done(student.name, key, tuple(rows))


def partners_of(student: Student, lesson: str) -> tuple[str, ...]:
    """Who may have handed in the same: as the groups say, or the platform, of one submission."""
    found = {one.name for one, only in student.partners if only in (None, lesson)}
    found |= {name for said in student.said.values() for name in said.together}
    return tuple(sorted(map(printable, found - {student.name})))


def failed(student: Student, work: Work, error: BaseException) -> Done:
    lesson = student.lesson or "?"
    return publish(
        student, [one_student.grader_error(student.name, lesson, work.settings, error)], work
    )


# --- many students --------------------------------------------------------------------------

_shared: Work | None = None  # set once in each worker process


def _start_worker(work: Work) -> None:
    global _shared
    _shared = work
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when to stop
    if sys.platform == "linux":
        # When the parent is killed, its workers go too, instead of waiting for ever.
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_A_WORKER, MEMORY_A_WORKER))


def _work(students: Sequence[Student]) -> list[Done]:
    assert _shared is not None
    return [guarded(student, _shared) for student in students]


def guarded(student: Student, work: Work) -> Done:
    """No submission takes for ever, and no fault of ours takes the others with it."""
    timed = threading.current_thread() is threading.main_thread()
    if timed:
        signal.signal(signal.SIGALRM, _too_long)
        signal.alarm(SECONDS_A_STUDENT)
    try:
        return grade_student(student, work)
    except SettingsError:
        raise
    except (Exception, TooLongError) as error:
        return failed(student, work, error)
    finally:
        if timed:
            signal.alarm(0)


def _too_long(signum: int, frame: object) -> None:
    raise TooLongError(f"grading took more than {SECONDS_A_STUDENT} s")


def _all(students: Sequence[Student], work: Work, processes: int) -> Iterator[Done]:
    if processes < 2 or len(students) < 2 * BATCH:
        for student in students:
            yield guarded(student, work)
        return
    batches = [students[i : i + BATCH] for i in range(0, len(students), BATCH)]
    lost = yield from _in_pool(batches, work, processes)
    # A worker process died. Whose fault it was shows when each goes alone.
    for student in lost:
        again = yield from _in_pool([[student]], work, 1)
        for culprit in again:
            error = MemoryError("the process that graded it was killed")
            yield failed(culprit, work, error)


def _in_pool(batches: Sequence[Sequence[Student]], work: Work, processes: int):
    """Yields what is done; returns the students that were lost with a dead process."""
    waiting = list(reversed(batches))
    running: dict[Future, Sequence[Student]] = {}
    lost: list[Student] = []
    with ProcessPoolExecutor(
        processes, get_context("fork"), initializer=_start_worker, initargs=(work,)
    ) as pool:
        while waiting or running:
            try:
                while waiting and len(running) < 2 * processes:
                    running[pool.submit(_work, waiting[-1])] = waiting[-1]
                    waiting.pop()
            except BrokenProcessPool:
                lost += [s for batch in waiting for s in batch]
                waiting = []
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                batch = running.pop(future)
                try:
                    yield from future.result()
                except BrokenProcessPool:
                    lost += batch
    return lost
