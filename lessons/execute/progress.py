"""Show the progress of a run: bars on a terminal, plain lines anywhere else."""

import os
import sys
import time
from typing import Any

import click

from lessons.execute.one_lesson import LessonOutcome

STILL_EVERY = 60.0  # seconds of silence after which a plain log reports the lesson's cell


class Lines:
    """A display with plain lines, for a job's output or a CI log."""

    def __init__(self, edition: str) -> None:
        self.edition = edition
        self.cells: dict[str, int] = {}
        self.at: dict[str, int] = {}
        self.said = time.monotonic()

    def say(self, line: str) -> None:
        click.echo(line)
        sys.stdout.flush()
        self.said = time.monotonic()

    def started(self, lesson: str, cells: int) -> None:
        self.cells[lesson] = cells
        self.say(f"{lesson} ({self.edition}): started, {cells} code cells")

    def at_cell(self, lesson: str, cell: int) -> None:
        self.at[lesson] = cell

    def ended(self, outcome: LessonOutcome) -> None:
        self.cells.pop(outcome.lesson, None)
        self.say(f"{outcome.lesson}: {outcome.status}, {outcome.seconds:.1f} s")

    def tick(self) -> None:
        if time.monotonic() - self.said > STILL_EVERY:
            for lesson, cells in self.cells.items():
                self.say(f"{lesson}: in cell {self.at.get(lesson, 0)} of {cells}")

    def close(self) -> None:
        pass


class Bars:
    """A display with one bar per lesson.

    The bars are not drawn by a thread, because the runner forks.
    """

    def __init__(self, edition: str) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
        from rich.progress import TimeElapsedColumn as Elapsed

        self.progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("cells"),
            Elapsed(),
            TextColumn("{task.fields[status]}"),
            auto_refresh=False,
        )
        self.edition = edition
        self.tasks: dict[str, Any] = {}
        self.progress.start()

    def started(self, lesson: str, cells: int) -> None:
        title = f"{lesson} ({self.edition})"
        self.tasks[lesson] = self.progress.add_task(title, total=cells, status="")
        self.progress.refresh()

    def at_cell(self, lesson: str, cell: int) -> None:
        self.progress.update(self.tasks[lesson], completed=max(0, cell - 1))

    def ended(self, outcome: LessonOutcome) -> None:
        task = self.tasks[outcome.lesson]
        if outcome.status == "passed":
            self.progress.update(task, completed=self.progress.tasks[task].total)
        colour = "green" if outcome.status == "passed" else "red"
        self.progress.update(task, status=f"[{colour}]{outcome.status}[/]")
        self.progress.stop_task(task)
        self.progress.refresh()

    def tick(self) -> None:
        self.progress.refresh()

    def close(self) -> None:
        self.progress.stop()


def watcher(edition: str) -> Lines | Bars:
    # mpirun gives its ranks a terminal of their own, which ends in the job's output file.
    terminal = sys.stdout.isatty() and "PMIX_RANK" not in os.environ
    return Bars(edition) if terminal else Lines(edition)
