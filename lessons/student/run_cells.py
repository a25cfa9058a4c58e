"""Run a notebook's cells in a copy of its folder, so that nothing in the folder changes."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path
from typing import Any

import click

from lessons.execute.environment import course_environment
from lessons.execute.kernel_sockets import folder_for_sockets, kernel_manager_in
from lessons.execute.marked_processes import MARK, stop_marked
from lessons.execute.stopping import StopRequested, stoppable
from lessons.student.cell_errors import TOO_LONG, name_of

EXERCISE_SECONDS = 30
IMPORT_SECONDS = 120  # of cells that import: TensorFlow takes up to 20 s on a slow machine
IMPORTS = re.compile(r"^\s*(import|from)\b|\breload\(", re.M)
NOT_COPIED = ("checkpoints", "*.npy", ".*", "__pycache__", "*.h5", "*.pt", "*.keras")


def run_cells(notebook: Any, folder: Path) -> None:
    from nbclient import NotebookClient
    from nbclient.exceptions import DeadKernelError
    from rich.console import Console

    mark = uuid.uuid4().hex
    with tempfile.TemporaryDirectory() as copy, folder_for_sockets() as sockets:
        place = Path(copy) / folder.name
        shutil.copytree(folder, place, ignore=shutil.ignore_patterns(*NOT_COPIED))
        client = NotebookClient(
            notebook,
            kernel_name="python3",
            kernel_manager_class=kernel_manager_in(Path(sockets)),
            allow_errors=True,
            timeout_func=seconds_for,
            interrupt_on_timeout=True,
            # A cell that ignores the interrupt is abandoned after its time.
            error_on_timeout={"ename": TOO_LONG, "evalue": "", "traceback": []},
            resources={"metadata": {"path": str(place)}},
        )
        environment = dict(os.environ) | course_environment() | {MARK: mark}
        try:
            # Not client.execute(), which handles Ctrl-C itself and ends in a traceback.
            with (
                stoppable(),
                client.setup_kernel(env=environment, stderr=subprocess.DEVNULL),
                Console(stderr=True).status("starting") as status,  # only on a terminal
            ):
                for index, cell in enumerate(notebook.cells):
                    status.update(name_of(cell).replace("[", r"\["))
                    execute_cell(client, cell, index)
        except StopRequested as stopped:
            click.echo("stopped; nothing was changed", err=True)
            sys.exit(128 + stopped.signum)
        except DeadKernelError as error:
            raise click.ClickException("the notebook's kernel died while checking.") from error
        finally:
            stop_marked(mark)


def execute_cell(client: Any, cell: Any, index: int) -> None:
    """Run one cell. A cell that takes too long is interrupted, and the next ones still run."""
    from nbformat.v4 import new_output

    began = time.monotonic()
    client.execute_cell(cell, index)
    limit = seconds_for(cell)
    if time.monotonic() - began >= limit:
        said = f"stopped after {limit} s: is there a loop that never ends?"
        cell.outputs = [new_output("error", ename=TOO_LONG, evalue=said, traceback=[])]


def seconds_for(cell: Any) -> int:
    """Return the time limit of a cell. Exercises are quick, but importing a framework is slow."""
    tags = set(cell.metadata.get("tags", []))
    quick = "exercise" in tags or ("check" in tags and not IMPORTS.search(cell.source))
    return EXERCISE_SECONDS if quick else IMPORT_SECONDS
