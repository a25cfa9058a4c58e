"""Execute planned lessons side by side, each in its own process, and stop them all if asked."""

import multiprocessing
import os
import signal
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Protocol

import psutil

from cluster.jobs.queue import cancel_jobs_of
from lessons.execute.one_lesson import Outcome, execute
from lessons.execute.plan import Plan, copy_lesson
from lessons.execute.processes import MARK, marked, stop_marked

TICK = 0.25
GRACE = 2.0  # seconds for what is ending by itself, like the supervisor of a job that is over
BACKSTOP = 30.0  # seconds after a lesson's own limit at which its process is stopped from outside


class Stopped(BaseException):
    """Somebody asked the runner to stop."""

    def __init__(self, signum: int) -> None:
        self.signum = signum


class Show(Protocol):
    """Who watches: a terminal or a log."""

    def started(self, lesson: str, cells: int) -> None: ...
    def at_cell(self, lesson: str, cell: int) -> None: ...
    def ended(self, outcome: Outcome) -> None: ...
    def tick(self) -> None: ...


@dataclass
class Running:
    plan: Plan
    process: BaseProcess
    pipe: Connection
    mark: str
    started: float
    outcome: Outcome | None = None
    cell: int = 0


@dataclass
class Run:
    """A whole run: what to do, and what came of it."""

    plans: list[Plan]
    out: Path
    environment: dict[str, str]
    limits: tuple[float, float]
    jobs: int
    outcomes: list[Outcome] = field(default_factory=list)
    stopped_by: int | None = None


@contextmanager
def stoppable() -> Iterator[None]:
    """SIGINT, SIGTERM and SIGHUP become Stopped; a second one changes nothing."""

    def stop(signum: int, _frame: object) -> None:
        for number in signals:
            signal.signal(number, lambda *_: None)
        raise Stopped(signum)

    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, stop) for number in signals}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def run_lessons(
    run: Run, show: Show, paged: Callable[[Outcome], None], warm_up: Callable[[], object]
) -> None:
    """Fill `run.outcomes`. `paged` makes a page of an executed notebook while others execute, and
    `warm_up` prepares for that while the first kernels start."""
    waiting, to_page = deque(run.plans), deque[Outcome]()
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
                for one in list(running):
                    if advance(one, run, show):
                        running.remove(one)
                        outcome = finish(one, run.out)
                        run.outcomes.append(outcome)
                        show.ended(outcome)
                        to_page.append(outcome)
                show.tick()
                if running and not to_page:
                    wait([one.pipe for one in running], timeout=TICK)
    except Stopped as stopped:
        run.stopped_by = stopped.signum
        for one in running:
            one.outcome = Outcome(one.plan.name, "stopped", error="stopped by a signal")
            run.outcomes.append(finish(one, run.out))
        run.outcomes += [Outcome(plan.name, "stopped", error="not started") for plan in waiting]


def start(run: Run, plan: Plan, show: Show) -> Running:
    mark = uuid.uuid4().hex
    folder = copy_lesson(plan, run.out)
    receive, send = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(
        target=execute,
        args=(
            folder,
            run.out / f"{plan.name}.log",
            plan.parameters,
            run.environment | {MARK: mark},
            run.limits,
            send,
        ),
    )
    process.start()
    send.close()
    show.started(plan.name, sum(c.cell_type == "code" for c in plan.notebook.cells))
    return Running(plan, process, receive, mark, time.monotonic())


def advance(one: Running, run: Run, show: Show) -> bool:
    """Take what the lesson's process has sent; True when it is over."""
    try:
        while one.pipe.poll():
            kind, value = one.pipe.recv()
            if kind == "done":
                one.outcome = Outcome(**value)
                return True
            one.cell = value
            show.at_cell(one.plan.name, value)
    except EOFError:
        one.outcome = Outcome(
            one.plan.name, "error", error="the lesson's process ended without a word"
        )
        return True
    if time.monotonic() - one.started > run.limits[1] + BACKSTOP:
        one.outcome = Outcome(one.plan.name, "timed out", error="did not end after its time limit")
        return True
    return False


def finish(one: Running, out: Path) -> Outcome:
    """Nothing that the lesson started outlives it: no job, no process."""
    assert one.outcome is not None
    pid = one.process.pid or 0
    if one.outcome.status != "stopped":
        one.process.join(GRACE)
        psutil.wait_procs(marked(one.mark, [pid]), timeout=GRACE)
    left = [f"job {number}" for number in cancel_jobs_of(out / one.plan.name)]
    left += stop_marked(one.mark, [pid])
    if one.process.is_alive():
        os.kill(pid, signal.SIGKILL)
    one.process.join()
    one.outcome.seconds = one.outcome.seconds or round(time.monotonic() - one.started, 3)
    if one.outcome.status in ("passed", "failed"):
        one.outcome.left_running = left
    return one.outcome
