"""Describe runs that did not end well."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import click

from autograder.codes import Outcome
from autograder.records import Run
from cluster.schedulers import history
from cluster.schedulers.known import scheduler_of
from cluster.sites import site_files

MEANT = "This job is meant to fail"  # printed by a program that shows a failure on purpose


def not_counted(runs: list[Run], folder: Path) -> Iterator[str]:
    """Yield sentences about jobs that contain no run, and about failed runs.

    A failed run is reported only if another run of the same program was completed.
    """
    good = {source_of(run) for run in runs if run.outcome == Outcome.COMPLETED}
    for run in runs:
        output = next((Path(file) for file in run.files if file.endswith(".out")), None)
        if output and meant_to_fail(output):
            continue
        if run.format == "unknown" and output:
            error = next((Path(file).name for file in run.files if file.endswith(".err")), None)
            why = f"; {error} may say why" if error else ""
            yield f"{output.name}: it contains no run ({run.outcome}){why}"
        if run.format != "unknown" and run.outcome != Outcome.COMPLETED and source_of(run) in good:
            yield how_it_ended(run, folder)


def meant_to_fail(output: Path) -> bool:
    return output.is_file() and MEANT in output.read_text(encoding="utf-8", errors="replace")


def source_of(run: Run) -> str:
    return run.header.source or run.format


def how_it_ended(run: Run, folder: Path) -> str:
    """Return a sentence about a run that did not end well."""
    name = Path(run.files[0]).name
    if run.outcome == Outcome.INCOMPLETE and still_running(run, folder):
        return f"{name}: its job is still running; wait until it has ended"
    return f"{name}: its run did not end well ({': '.join([run.outcome, *run.failed_ranks[:1]])})"


def still_running(run: Run, folder: Path) -> bool:
    """Return whether the job is still running.

    Only the scheduler of this machine is asked, because it answers at once.
    """
    with contextlib.suppress(click.ClickException, OSError, ValueError, TypeError):
        job = history.with_id(str(run.job_id))
        if job and folder.resolve() in Path(job.job_file).parents:
            scheduler = scheduler_of(site_files.current(job.site))
            statuses = scheduler.statuses(job.job_id) if scheduler.RUNS_HERE else []
            return any(not status.over for status in statuses)
    return False
