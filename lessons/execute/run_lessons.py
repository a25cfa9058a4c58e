"""Execute planned lessons side by side, each in its own process, and stop them all on request."""

import multiprocessing
import os
import signal
import tempfile
import time
import uuid
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Protocol

import psutil

from cluster.jobs.queue import cancel_jobs_of
from lessons.execute.kernel_sockets import folder_for_sockets
from lessons.execute.marked_processes import MARK, marked, stop_marked
from lessons.execute.one_lesson import LessonOutcome, execute
from lessons.execute.plan import Plan, copy_lesson
from lessons.execute.stopping import StopRequested, stoppable

TICK = 0.25
# Seconds to wait for processes that end by themselves, such as a finished job's supervisor.
GRACE = 2.0
BACKSTOP = 30.0  # seconds after a lesson's time limit until its process is stopped from outside


class Watcher(Protocol):
    """A display of a run's progress: a terminal or a log."""

    def started(self, lesson: str, cells: int) -> None: ...
    def at_cell(self, lesson: str, cell: int) -> None: ...
    def ended(self, outcome: LessonOutcome) -> None: ...
    def tick(self) -> None: ...


@dataclass
class Running:
    plan: Plan
    process: BaseProcess
    pipe: Connection
    sockets: tempfile.TemporaryDirectory[str]
    mark: str
    started: float
    outcome: LessonOutcome | None = None
    cell: int = 0


@dataclass
class LessonsRun:
    """A whole run: its plans and its outcomes."""

    plans: list[Plan]
    out: Path
    environment: dict[str, str]
    limits: tuple[float, float]
    jobs: int
    outcomes: list[LessonOutcome] = field(default_factory=list)
    stopped_by: int | None = None

    @property
    def passed(self) -> int:
        return sum(outcome.status == "passed" for outcome in self.outcomes)


def run_lessons(
    run: LessonsRun,
    show: Watcher,
    paged: Callable[[LessonOutcome], None],
    warm_up: Callable[[], object],
) -> None:
    """Execute the plans, and fill `run.outcomes`.

    `paged` writes the page of an executed notebook while others execute. `warm_up` prepares `paged`
    while the first kernels start.
    """
    waiting, to_page = deque(run.plans), deque[LessonOutcome]()
    running: list[Running] = []
    try:
        with stoppable():
            while waiting or running or to_page:
                while waiting and len(running) < run.jobs:
                    running.append(start(run, waiting.popleft(), show))
                if not run.outcomes:
                    warm_up()
                if to_page:
                    paged(to_page.popleft())
                for lesson in list(running):
                    if advance(lesson, run, show):
                        running.remove(lesson)
                        outcome = finish(lesson, run.out)
                        run.outcomes.append(outcome)
                        show.ended(outcome)
                        to_page.append(outcome)
                show.tick()
                if running and not to_page:
                    wait([lesson.pipe for lesson in running], timeout=TICK)
    except StopRequested as stopped:
        run.stopped_by = stopped.signum
        for lesson in running:
            lesson.outcome = LessonOutcome(lesson.plan.name, "stopped", error="stopped by a signal")
            run.outcomes.append(finish(lesson, run.out))
        run.outcomes += [
            LessonOutcome(plan.name, "stopped", error="not started") for plan in waiting
        ]


def start(run: LessonsRun, plan: Plan, show: Watcher) -> Running:
    mark = uuid.uuid4().hex
    folder, sockets = copy_lesson(plan, run.out), folder_for_sockets()
    receive, send = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(
        target=execute,
        args=(
            folder,
            run.out / f"{plan.name}.log",
            plan.parameters,
            run.environment | {MARK: mark},
            run.limits,
            Path(sockets.name),
            send,
        ),
    )
    process.start()
    send.close()
    show.started(plan.name, sum(c.cell_type == "code" for c in plan.notebook.cells))
    return Running(plan, process, receive, sockets, mark, time.monotonic())


def advance(lesson: Running, run: LessonsRun, show: Watcher) -> bool:
    """Read messages from the lesson's process. Return True when the process has finished."""
    try:
        while lesson.pipe.poll():
            kind, value = lesson.pipe.recv()
            if kind == "done":
                lesson.outcome = LessonOutcome(**value)
                return True
            lesson.cell = value
            show.at_cell(lesson.plan.name, value)
    except EOFError:
        lesson.outcome = LessonOutcome(
            lesson.plan.name, "error", error="the lesson's process ended without a result"
        )
        return True
    if time.monotonic() - lesson.started > run.limits[1] + BACKSTOP:
        lesson.outcome = LessonOutcome(
            lesson.plan.name, "timed out", error="it did not stop at its time limit"
        )
        return True
    return False


def finish(lesson: Running, out: Path) -> LessonOutcome:
    """End every job and process that the lesson started."""
    assert lesson.outcome is not None
    pid = lesson.process.pid or 0
    if lesson.outcome.status != "stopped":
        lesson.process.join(GRACE)
        psutil.wait_procs(marked(lesson.mark, [pid]), timeout=GRACE)
    left = [f"job {number}" for number in cancel_jobs_of(out / lesson.plan.name)]
    left += stop_marked(lesson.mark, [pid])
    if lesson.process.is_alive():
        os.kill(pid, signal.SIGKILL)
    lesson.process.join()
    lesson.sockets.cleanup()
    lesson.outcome.seconds = lesson.outcome.seconds or round(time.monotonic() - lesson.started, 3)
    if lesson.outcome.status in ("passed", "failed"):
        lesson.outcome.left_running = left
    return lesson.outcome
