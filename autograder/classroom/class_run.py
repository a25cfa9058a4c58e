"""Grade many students: on all cores, only what changed, and so that a kill loses nothing.

Each student's page, record and then state are written when the student is done. The state has the
key of all that went in: the files (size and times), rubrics, policy and the grader's own code.
What has the right key is not made again. The index only saves reading all states the next time.
"""

import ctypes
import json
import os
import resource
import signal
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from multiprocessing import get_context
from pathlib import Path

from pydantic_core import to_json

from autograder.classroom import mark, policy
from autograder.classroom.mark import Settings
from autograder.classroom.rows import Row, from_data, row_of
from autograder.safe_text import file_name, printable
from autograder.settings.strict_yaml import SettingsError
from autograder.submissions.collect import MAX_DEPTH, MAX_ENTRIES, Student
from autograder.verdict import GRADER_ERROR, Grade
from autograder.writing import write_if_new

SECONDS_A_STUDENT = 600
MEMORY_A_WORKER = 2 << 30
BATCH = 4
PR_SET_PDEATHSIG = 1
RACY_SECONDS = 2.0  # a file changed this recently could change again unseen
INDEX, STATES = ".index", ".states"


@dataclass(frozen=True, slots=True)
class Done:
    """One student's rows, and the key under which they may be used again (empty: never)."""

    student: str
    key: str
    rows: tuple[Row, ...]


def grade_class(
    students: Sequence[Student],
    settings: Settings,
    out: Path | None,
    processes: int,
    tick: Callable[[int], None] = lambda count: None,
    index: str = INDEX,
) -> list[Done]:
    """All students in order; records and pages are written below `out` on the way."""
    known = read_index(out / index) if out else {}
    finished: dict[str, Done] = {}
    to_do = []
    for student in students:
        key = state_of(student, settings) if out else ""
        before = known.get(student.name)
        if out and before and before.key == key and key and pages_there(out, before):
            finished[student.name] = before
        else:
            to_do.append(student)
    tick(len(finished))
    for done in _all(to_do, settings, out, processes):
        finished[done.student] = done
        tick(1)
    in_order = [finished[student.name] for student in students]
    if out is not None:
        write_index(out / index, in_order)
    return in_order


# --- one student ----------------------------------------------------------------------------


def grade_student(student: Student, settings: Settings, out: Path | None) -> Done:
    """Grade, write the pages and last the state: whoever finds the state finds the pages."""
    key = state_of(student, settings) if out else ""
    page = f"{file_name(student.name)}.html"
    state = out / STATES / f"{file_name(student.name)}.json" if out else None
    if out and state and key:
        before = read_state(state, student.name, key)
        if before and pages_there(out, before):
            return before
    grades = mark.mark_student(student, settings)
    grades = policy.apply(grades, settings.policy, student.name)
    rows = tuple(row_of(grade, page) for grade in grades)
    if settings.gradescope:
        from autograder.report import gradescope

        write_if_new(settings.gradescope, gradescope.document(grades))
    if out and state:
        if any(grade.status == GRADER_ERROR for grade in grades):
            key = ""  # try again next time
        write_pages(student, grades, page, settings, out)
        write_if_new(state, as_line(Done(student.name, key, rows)))
    return Done(student.name, key, rows)


def write_pages(
    student: Student, grades: Sequence[Grade], page: str, settings: Settings, out: Path
) -> None:
    from autograder.report import html

    name = printable(settings.names.get(student.name) or student.name)
    write_if_new(out / "students" / page, html.student_page(name, grades, settings.curves))
    data = {"format": 1, "student": printable(student.name), "grades": grades}
    record = to_json(data, indent=1, inf_nan_mode="strings").decode() + "\n"
    write_if_new(out / "records" / Path(page).with_suffix(".json").name, record)
    if settings.junit:
        from autograder.report import junit

        path = out / "junit" / Path(page).with_suffix(".xml").name
        write_if_new(path, junit.document(student.name, grades))


def failed(student: Student, settings: Settings, out: Path | None, error: Exception) -> Done:
    grade = mark.grader_error(student.name, student.lesson or "?", settings, error)
    page = f"{file_name(student.name)}.html"
    if out:
        write_pages(student, [grade], page, settings, out)
    return Done(student.name, "", (row_of(grade, page),))


# --- many students --------------------------------------------------------------------------

_shared: tuple[Settings, Path | None] | None = None  # set once in each worker process


def _start_worker(settings: Settings, out: Path | None) -> None:
    global _shared
    _shared = (settings, out)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when to stop
    if sys.platform == "linux":
        # When the parent is killed, its workers go too, instead of waiting for ever.
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_A_WORKER, MEMORY_A_WORKER))


def _work(students: Sequence[Student]) -> list[Done]:
    assert _shared is not None
    return [guarded(student, *_shared) for student in students]


def guarded(student: Student, settings: Settings, out: Path | None) -> Done:
    """No submission takes for ever, and no fault of ours takes the others with it."""
    timed = threading.current_thread() is threading.main_thread()
    if timed:
        signal.signal(signal.SIGALRM, _too_long)
        signal.alarm(SECONDS_A_STUDENT)
    try:
        return grade_student(student, settings, out)
    except SettingsError:
        raise
    except Exception as error:
        return failed(student, settings, out, error)
    finally:
        if timed:
            signal.alarm(0)


def _too_long(signum: int, frame: object) -> None:
    raise TimeoutError(f"grading took more than {SECONDS_A_STUDENT} s")


def _all(
    students: Sequence[Student], settings: Settings, out: Path | None, processes: int
) -> Iterator[Done]:
    if processes < 2 or len(students) < 2 * BATCH:
        for student in students:
            yield guarded(student, settings, out)
        return
    batches = [students[i : i + BATCH] for i in range(0, len(students), BATCH)]
    lost = yield from _in_pool(batches, settings, out, processes)
    # A worker process died. Whose fault it was shows when each goes alone.
    for student in lost:
        again = yield from _in_pool([[student]], settings, out, 1)
        for culprit in again:
            error = MemoryError("the process that graded it was killed")
            yield failed(culprit, settings, out, error)


def _in_pool(
    batches: Sequence[Sequence[Student]], settings: Settings, out: Path | None, processes: int
):
    """Yields what is done; returns the students that were lost with a dead process."""
    waiting = list(reversed(batches))
    running: dict[Future, Sequence[Student]] = {}
    lost: list[Student] = []
    with ProcessPoolExecutor(
        processes, get_context("fork"), initializer=_start_worker, initargs=(settings, out)
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


# --- what is known from before --------------------------------------------------------------


def state_of(student: Student, settings: Settings) -> str:
    """A key of everything that a student's grade depends on, without reading the files."""
    digest = blake2b(settings.key.encode(), digest_size=16)
    mine = [
        student.name,
        student.lesson,
        settings.policy.of_student(student.name),
        settings.logins.get(student.name),
        settings.names.get(student.name),
    ]
    digest.update(json.dumps(mine, default=str).encode())
    newest, count = 0.0, 0
    for path, info in _files(student.places):
        count += 1
        facts = (path, info.st_mode, info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino)
        digest.update(repr(facts).encode("utf-8", "surrogateescape"))
        newest = max(newest, info.st_ctime, info.st_mtime)
    if count > MAX_ENTRIES or newest > time.time() - RACY_SECONDS:
        return ""
    return digest.hexdigest()


def _files(places: Sequence[Path]) -> Iterator[tuple[str, os.stat_result]]:
    """Everything below, links not followed, in a fixed order; bounded as collecting is."""
    stack = [(str(place), 0) for place in reversed(places)]
    count = 0
    while stack and count <= MAX_ENTRIES:
        path, depth = stack.pop()
        try:
            info = os.lstat(path)
            yield path, info
            if stat.S_ISDIR(info.st_mode) and depth <= MAX_DEPTH:
                names = os.listdir(path)
                count += len(names)
                stack += [(f"{path}/{n}", depth + 1) for n in sorted(names, reverse=True)]
        except OSError:
            continue


def pages_there(out: Path, done: Done) -> bool:
    return all((out / "students" / row.page).exists() for row in done.rows)


def read_state(path: Path, student: str, key: str) -> Done | None:
    try:
        done = from_line(path.read_bytes())
    except (OSError, *NO_LINE):
        return None
    return done if (done.student, done.key) == (student, key) else None


def read_index(path: Path) -> dict[str, Done]:
    try:
        with path.open("rb") as file:
            return {done.student: done for done in map(from_line, file)}
    except (OSError, *NO_LINE):
        return {}  # written by another version, or cut: the records are still there


def write_index(path: Path, all_done: Sequence[Done]) -> None:
    write_if_new(path, "".join(as_line(done) + "\n" for done in all_done))


def as_line(done: Done) -> str:
    name = json.dumps(done.student)  # may hold bytes that are no text
    return f"[{name},{json.dumps(done.key)},{to_json(done.rows).decode()}]"


NO_LINE = (ValueError, LookupError, TypeError)  # what `from_line` raises on anything else


def from_line(line: bytes) -> Done:
    name, key, rows = json.loads(line)
    return Done(name, key, tuple(from_data(row) for row in rows))


@cache
def code_key() -> str:
    """Changes when any file of the grader changes; a process goes on with what it has loaded."""
    digest = blake2b(digest_size=16)
    root = Path(__file__).parents[1]
    for path in sorted(root.rglob("*")):
        if path.suffix in (".py", ".j2", ".css"):
            digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
