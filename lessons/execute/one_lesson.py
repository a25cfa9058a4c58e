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
ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


@dataclass
class LessonOutcome:
    lesson: str
    status: str  # passed, failed, timed out, stopped, or error (a fault of the runner)
    seconds: float = 0.0
    failed_cell: int | None = None
    failed_line: str = ""  # the first line of that cell
    error: str = ""
    last_lines: list[str] = field(default_factory=list)
    left_running: list[str] = field(default_factory=list)


def execute(
    folder: Path,
    parameters: dict[str, Any],
    environment: dict[str, str],
    limits: tuple[float, float],
    sockets: Path,
    pipe: Connection,
) -> None:
    """Run a lesson in the forked process. Send ("cell", n), and ("done", outcome) at the end."""
    os.setsid()  # a terminal's Ctrl-C goes to the runner only, which then stops everything
    os.chdir(folder)
    if "PMIX_RANK" in os.environ:  # under mpirun, as in a job
        for name in [name for name in os.environ if name.startswith(("OMPI_", "PMIX_", "PRTE_"))]:
            del os.environ[name]
    os.environ.update(environment)
    with folder.with_suffix(".log").open("wb", buffering=0) as sink:
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


def execute_notebook(
    parameters: dict[str, Any],
    limits: tuple[float, float],
    sockets: Path,
    pipe: Connection,
    outcome: LessonOutcome,
) -> Any:
    """Return the executed notebook, which is also saved. After a failure, note it in `outcome`."""
    import nbformat
    from nbclient.exceptions import CellTimeoutError, DeadKernelError
    from papermill import PapermillExecutionError
    from papermill.execute import execute_notebook as papermill_execute

    page = notebook_in(Path.cwd())
    end = time.monotonic() + limits[1]
    live: dict[str, Any] = {"cells": 0}

    def cell_started(cell: Any, cell_index: int) -> None:
        injected = "injected-parameters" in cell.metadata.get("tags", [])
        live["cells"] += cell.cell_type == "code" and not injected  # our cell is not counted
        pipe.send(("cell", live["cells"]))

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
            timeout_func=lambda _: max(1.0, min(limits[0], end - time.monotonic())),
            on_notebook_start=lambda notebook: live.update(notebook=notebook),
            on_cell_start=cell_started,
        )
    except PapermillExecutionError:
        outcome.status = "failed"
        return nbformat.read(page, as_version=4)
    except CellTimeoutError:
        outcome.status = "timed out"
        outcome.error = f"a cell took more than {limits[0]:g} s (--cell-timeout)"
        if time.monotonic() >= end:
            outcome.error = f"the lesson took more than {limits[1]:g} s (--timeout)"
    except DeadKernelError:
        outcome.status = "failed"
        outcome.error = "the kernel died: it was killed for its memory use, or crashed"
    nbformat.write(live["notebook"], page)
    return live["notebook"]


def describe(notebook: Any, outcome: LessonOutcome) -> None:
    """After a failure, fill in its cell, counted among the code cells, and the last output."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    ran = [cell for cell in code if cell.metadata.get("papermill", {}).get("start_time")]
    if outcome.status == "passed" or not ran:
        return
    outcome.failed_cell = code.index(ran[-1]) + 1
    outcome.failed_line = next((line for line in ran[-1].source.splitlines() if line.strip()), "")
    printed = []
    for output in ran[-1].outputs:
        if output.output_type == "stream":
            printed += output.text.splitlines()
        elif output.output_type == "error":
            outcome.error = outcome.error or f"{output.ename}: {output.evalue}"
            printed += "\n".join(output.traceback).splitlines()
    outcome.last_lines = [ESCAPES.sub("", line) for line in printed][-LAST_LINES:]
