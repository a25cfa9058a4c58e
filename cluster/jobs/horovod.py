"""Compile Horovod when a lesson first needs it: before its job, its check or its run."""

import importlib
import os
import subprocess
import sys
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

import click

from cluster.job_file.programs import imports_any

ROOT = Path(__file__).resolve().parents[2]


def provide_horovod_for(programs: Iterable[Path]) -> None:
    """Install Horovod if one of these programs imports it and the course's .venv lacks it."""
    if any(imports_any(program, {"horovod"}, if_unreadable=False) for program in programs):
        provide_horovod()


def provide_horovod() -> None:
    """Compile and install Horovod if the course's own .venv lacks it.

    Any other environment is left as it is: only the set-up writes this folder.
    """
    if find_spec("horovod") or not os.access(Path(sys.prefix, ".set-up"), os.W_OK):
        return
    print("Horovod is not installed yet, and this needs it.", flush=True)
    command = [sys.executable, "-m", "cluster.environment", "horovod"]
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert process.stdout
    printed = ""
    # By character, because a stage shows its title long before its line ends; with print() instead
    # of an inherited stream, because a notebook shows only what Python prints.
    while character := process.stdout.read(1):
        printed += character
        print(character, end="", flush=character in ".\n")
    if process.wait():
        reason = printed.strip().rpartition("\n")[2]
        raise click.ClickException(f"Horovod could not be installed: {reason}")
    importlib.invalidate_caches()
