"""Execute planned lessons side by side, each in its own process, and stop them all on request."""

import multiprocessing
import tempfile
import time
import uuid
from collections import deque
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path

import click
import psutil

from cluster.jobs.wait import cancel_jobs_of
from lessons.execute.kernel_sockets import folder_for_sockets
from lessons.execute.marked_processes import MARK, marked, stop_marked
from lessons.execute.one_lesson import LessonOutcome, execute
from lessons.execute.plan import Plan, copy_lesson
from lessons.execute.stopping import StopRequested, stoppable

TICK = 0.25
STILL_EVERY = 60.0  # seconds between lines about the cells that run
# Seconds to wait for processes that end by themselves, such as a finished job's supervisor.
GRACE = 2.0
BACKSTOP = 30.0  # seconds after a lesson's time limit until its process is stopped from outside


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

    @property
    def cells(self) -> int:
        return sum(cell.cell_type == "code" for cell in self.plan.notebook.cells)


@dataclass
class LessonsRun:
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


def run_lessons(run: LessonsRun, edition: str) -> None:
    """Execute the plans, fill `run.outcomes`, and print a line when a lesson starts and ends."""
    waiting = deque(run.plans)
    running: list[Running] = []
    said = time.monotonic()
    try:
        with stoppable():
            while waiting or running:
                while waiting and len(running) < run.jobs:
                    running.append(start(run, waiting.popleft()))
                    last = running[-1]
                    click.echo(f"{last.plan.name} ({edition}): started, {last.cells} code cells")
                for lesson in list(running):
                    if advance(lesson, run):
                        running.remove(lesson)
                        outcome = finish(lesson, run.out)
                        run.outcomes.append(outcome)
                        click.echo(f"{outcome.lesson}: {outcome.status}, {outcome.seconds:.1f} s")
                if time.monotonic() - said > STILL_EVERY:
                    said = time.monotonic()
                    for lesson in running:
                        click.echo(f"{lesson.plan.name}: in cell {lesson.cell} of {lesson.cells}")
                wait([lesson.pipe for lesson in running], timeout=TICK)
    except StopRequested as stopped:
        run.stopped_by = stopped.signum
        for lesson in running:
            lesson.outcome = LessonOutcome(lesson.plan.name, "stopped", error="stopped by a signal")
            run.outcomes.append(finish(lesson, run.out))
        run.outcomes += [
            LessonOutcome(plan.name, "stopped", error="not started") for plan in waiting
        ]


def start(run: LessonsRun, plan: Plan) -> Running:
    mark = uuid.uuid4().hex
    folder, sockets = copy_lesson(plan, run.out), folder_for_sockets()
    environment = run.environment | {MARK: mark}
    receive, send = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(
        target=execute,
        args=(folder, plan.parameters, environment, run.limits, Path(sockets.name), send),
    )
    process.start()
    send.close()
    return Running(plan, process, receive, sockets, mark, time.monotonic())


def advance(lesson: Running, run: LessonsRun) -> bool:
    """Read messages from the lesson's process. Return True when the process has finished."""
    name = lesson.plan.name
    try:
        while lesson.pipe.poll():
            kind, value = lesson.pipe.recv()
            if kind == "done":
                lesson.outcome = LessonOutcome(**value)
                return True
            lesson.cell = value
    except EOFError:
        lesson.outcome = LessonOutcome(name, "error", error="its process ended without a result")
    if time.monotonic() - lesson.started > run.limits[1] + BACKSTOP:
        lesson.outcome = LessonOutcome(name, "timed out", error="it did not stop at its time limit")
    return lesson.outcome is not None


def finish(lesson: Running, out: Path) -> LessonOutcome:
    """End every job and process that the lesson started."""
    assert lesson.outcome is not None
    if lesson.outcome.status != "stopped":
        lesson.process.join(GRACE)
        psutil.wait_procs(marked(lesson.mark), timeout=GRACE)
    left = [f"job {number}" for number in cancel_jobs_of(out / lesson.plan.name)]
    left += stop_marked(lesson.mark)
    lesson.process.kill()  # if it is still alive
    lesson.process.join()
    lesson.sockets.cleanup()
    lesson.outcome.seconds = lesson.outcome.seconds or round(time.monotonic() - lesson.started, 3)
    if lesson.outcome.status in ("passed", "failed"):
        lesson.outcome.left_running = left
    return lesson.outcome
