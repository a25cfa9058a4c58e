"""Execute one lesson in one process: papermill runs it in its own folder and reports the result.

The process is forked by the runner, which has imported papermill once for all lessons.
"""

import os
import re
import sys
import time
import traceback
from dataclasses import asdict, dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from lessons.execute.kernel_sockets import kernel_manager_in
from lessons.folders import notebook_in

LAST_LINES = 12
SAVE_EVERY = 2.0  # seconds between saves of a running notebook
ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


@dataclass
class LessonOutcome:
    """The result of a lesson.

    `status`: passed, failed, timed out, stopped, or error (a fault of the runner).
    """

    lesson: str
    status: str
    seconds: float = 0.0
    cells: list[dict[str, Any]] = field(default_factory=list)  # one for each executed code cell
    failed_cell: int | None = None  # counted among the code cells, from 1
    failed_line: str = ""  # the first line of that cell
    error: str = ""
    last_lines: list[str] = field(default_factory=list)
    left_running: list[str] = field(default_factory=list)


def execute(
    folder: Path,
    log: Path,
    parameters: dict[str, Any],
    environment: dict[str, str],
    limits: tuple[float, float],
    sockets: Path,
    pipe: Connection,
) -> None:
    """Run a lesson in the forked process.

    Send ("cell", n) during the run and ("done", outcome) at the end.
    """
    os.setsid()  # a terminal's Ctrl-C goes to the runner only, which then stops everything
    os.chdir(folder)
    if "PMIX_RANK" in os.environ:  # under mpirun, as in a job
        for name in [name for name in os.environ if name.startswith(("OMPI_", "PMIX_", "PRTE_"))]:
            del os.environ[name]
    os.environ.update(environment)
    with log.open("wb", buffering=0) as sink:
        os.dup2(sink.fileno(), 1)
        os.dup2(sink.fileno(), 2)
    started = time.monotonic()
    outcome = LessonOutcome(folder.name, "passed")
    try:
        notebook = execute_notebook(parameters, limits, sockets, pipe, outcome)
        describe(notebook, outcome)
    except Exception:
        outcome.status, outcome.error = "error", traceback.format_exc(limit=-1).strip()
        traceback.print_exc()
    outcome.seconds = round(time.monotonic() - started, 3)
    pipe.send(("done", asdict(outcome)))
    pipe.close()
    sys.stdout.flush()
    os._exit(0)  # this process must not run the runner's handlers or flush its buffers


class CellByCell:
    """Papermill's callbacks for each cell: they check time limits, show progress and save."""

    def __init__(self, limits: tuple[float, float], pipe: Connection) -> None:
        self.cell_limit, lesson_limit = limits
        self.end = time.monotonic() + lesson_limit
        self.pipe = pipe
        self.notebook: Any = None
        self.saved = time.monotonic()
        self.code_cells = 0

    def remaining(self, _cell: Any) -> float:
        return max(1.0, min(self.cell_limit, self.end - time.monotonic()))

    def notebook_started(self, notebook: Any) -> None:
        self.notebook = notebook

    def cell_started(self, cell: Any, cell_index: int) -> None:
        injected = "injected-parameters" in cell.metadata.get("tags", [])
        self.code_cells += cell.cell_type == "code" and not injected  # our cell is not counted
        self.pipe.send(("cell", self.code_cells))
        if time.monotonic() - self.saved > SAVE_EVERY:
            self.save()
            self.saved = time.monotonic()

    def save(self) -> None:
        import nbformat

        nbformat.write(self.notebook, notebook_in(Path.cwd()))


def execute_notebook(
    parameters: dict[str, Any],
    limits: tuple[float, float],
    sockets: Path,
    pipe: Connection,
    outcome: LessonOutcome,
) -> Any:
    import nbformat
    from nbclient.exceptions import CellTimeoutError, DeadKernelError
    from papermill import PapermillExecutionError
    from papermill.execute import execute_notebook as papermill_execute

    page = notebook_in(Path.cwd())
    live = CellByCell(limits, pipe)
    try:
        return papermill_execute(
            str(page),
            str(page),
            parameters=parameters,
            kernel_name="python3",  # this Python, whatever kernel the notebook was saved with
            language="python",
            kernel_manager_class=kernel_manager_in(sockets),
            progress_bar=False,
            # Saving twice per cell takes a tenth of a short lesson's time.
            request_save_on_cell_execute=False,
            autosave_cell_every=0,
            timeout_func=live.remaining,
            on_notebook_start=live.notebook_started,
            on_cell_start=live.cell_started,
        )
    except PapermillExecutionError:
        outcome.status = "failed"
        return nbformat.read(page, as_version=4)
    except CellTimeoutError:
        outcome.status = "timed out"
        outcome.error = f"a cell took more than {limits[0]:g} s (--cell-timeout)"
        if time.monotonic() >= live.end:
            outcome.error = f"the lesson took more than {limits[1]:g} s (--timeout)"
    except DeadKernelError:
        outcome.status = "failed"
        outcome.error = "the kernel died: it was killed for its memory use, or crashed"
    live.save()
    return live.notebook


def describe(notebook: Any, outcome: LessonOutcome) -> None:
    """Fill in each cell's duration and, after a failure, its cell and the last output."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for number, cell in enumerate(code, start=1):
        facts = cell.metadata.get("papermill", {})
        if facts.get("start_time"):
            seconds = facts.get("duration")
            outcome.cells.append({"cell": number, "id": cell.get("id"), "seconds": seconds})
    if outcome.status == "passed" or not outcome.cells:
        return
    outcome.failed_cell = outcome.cells[-1]["cell"]
    cell = code[outcome.failed_cell - 1]
    outcome.failed_line = next((line for line in cell.source.splitlines() if line.strip()), "")
    printed = []
    for output in cell.outputs:
        if output.output_type == "stream":
            printed += output.text.splitlines()
        elif output.output_type == "error":
            outcome.error = outcome.error or f"{output.ename}: {output.evalue}"
            printed += "\n".join(output.traceback).splitlines()
    outcome.last_lines = [ESCAPES.sub("", line) for line in printed][-LAST_LINES:]
