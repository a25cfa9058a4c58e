"""Wait until a job has ended, and show its state, reason and expected start."""

import contextlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cluster.jobs import failure_advice
from cluster.schedulers import history
from cluster.schedulers.contract import WAITING, JobStatus, Show
from cluster.schedulers.known import scheduler_of
from cluster.sites import site_files
from cluster.sites.site_files import Site

if TYPE_CHECKING:  # it reads outputs, and `sbatch` should start quickly
    from cluster.jobs.live import LiveEpochs

QUICK = 0.25  # seconds between the first two requests
FIRST_SILENCE = 30.0  # seconds without a message before the first reminder; doubles each time
MEANINGS = {  # of a reason or a state that is not the job's fault
    "NODE_FAIL": "its node failed, not your program: submit the job again",
    "BeginTime": "Slurm waits about two minutes before it starts a requeued job again",
}
LOOK_EVERY = 1.0  # seconds; checking an output file does not load the scheduler


def exit_if_failed(statuses: list[JobStatus]) -> None:
    """If the job failed, exit with its last lines and advice."""
    if all(status.succeeded for status in statuses):
        return
    failure_advice.tell(statuses, lambda line: click.echo(line, err=True))
    raise SystemExit(1)


def wait_for(
    label: str, site: Site, say: Show, live: "LiveEpochs | None" = None
) -> list[JobStatus]:
    """Wait for the job. Say new states, and repeat an unchanged one less and less often.

    A picture of the epochs replaces the repetitions, so it stays at the end of the output.
    """
    said, silence, begun = "", FIRST_SILENCE, time.monotonic()
    statuses: list[JobStatus] = []
    for statuses in watch(label, site, live.show if live else None):
        line = "; ".join(dict.fromkeys(map(describe, statuses)))
        passed = time.monotonic() - begun
        if line != said or (passed >= silence and not (live and live.drawn)):
            say(line)
            said = line
            while silence <= passed:
                silence *= 2
    return statuses


def watch(
    label: str, site: Site, meanwhile: Callable[[list[JobStatus]], object] | None = None
) -> Iterator[list[JobStatus]]:
    """Yield the job's statuses repeatedly, until it has ended or can never start.

    `meanwhile` is called with the latest statuses between two requests, about once per second.
    """
    scheduler = scheduler_of(site)
    pause = QUICK
    while True:
        statuses = scheduler.statuses(label)
        if meanwhile:
            meanwhile(statuses)
        yield statuses
        if all(status.over or never_starts(status) for status in statuses):
            return
        asked = time.monotonic()
        while (left := asked + pause - time.monotonic()) > 0:
            time.sleep(min(left, LOOK_EVERY if meanwhile else left))
            if meanwhile:
                meanwhile(statuses)
        pause = min(1.5 * pause, scheduler.ASK_EVERY)  # less often the longer the job takes


def never_starts(status: JobStatus) -> bool:
    return status.reason == "DependencyNeverSatisfied"


def describe(status: JobStatus) -> str:
    line = f"job {status.label}: {status.state}"
    if status.reason not in ("", "None"):
        line += f" ({status.reason})"
    if known := MEANINGS.get(status.reason) or MEANINGS.get(status.state):
        line += f": {known}"
    if never_starts(status):
        line += f": the job before it failed, so this one never starts: scancel {status.label}"
    if status.expected_start and status.state in WAITING:
        line += f", expected start {status.expected_start}"
    return line


def cancel_jobs_of(folder: Path) -> list[str]:
    """Cancel the unfinished jobs of job files in or below `folder`, and return their ids."""
    cancelled = []
    for submission in history.everything():
        if not Path(submission.job_file).is_relative_to(folder.resolve()):
            continue
        with contextlib.suppress(click.ClickException):  # too old for the scheduler
            scheduler = scheduler_of(site_files.current(submission.site))
            if not all(status.over for status in scheduler.statuses(submission.job_id)):
                scheduler.cancel(submission.job_id)
                cancelled.append(submission.job_id)
    return cancelled
