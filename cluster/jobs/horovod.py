"""Compile Horovod when a lesson first needs it: before its job, its check or its run."""

from collections.abc import Iterable
from pathlib import Path

import click

from cluster.environment.failure import SetUpError
from cluster.environment.on_demand import provide_horovod
from cluster.job_file.programs import imports_any


def provide_horovod_for(programs: Iterable[Path]) -> None:
    """Install Horovod if one of these programs imports it and the course's .venv lacks it."""
    if any(imports_any(program, {"horovod"}, if_unreadable=False) for program in programs):
        try:
            provide_horovod()
        except SetUpError as error:
            raise click.ClickException(f"Horovod could not be installed: {error}") from None
