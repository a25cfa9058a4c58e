"""`cluster wait`: wait until a job has ended, and show its state, reason and expected start."""

import time
from collections.abc import Callable, Iterator

import click

from cluster.jobs import failure_advice
from cluster.schedulers.contract import WAITING, JobStatus
from cluster.schedulers.known import scheduler_of
from cluster.sites import site_files
from cluster.sites.site_files import Site

QUICK = 0.25  # seconds between the first two requests
LOOK_EVERY = 1.0  # seconds; checking an output file does not load the scheduler


@click.command(
    "wait", epilog="Exit code 0: the job succeeded; 1: it failed; 2: mistyped; 130: interrupted."
)
@click.option("--site", "site_name", metavar="SITE", help="The job's site, if not the one in use.")
@click.argument("label", metavar="JOB")
def wait_command(site_name: str | None, label: str) -> None:
    """Wait until a job has ended; exit 1 if it failed."""
    site = site_files.current(site_name)
    click.echo(scheduler_of(site).ASK_BY_HAND.format(label), err=True)
    exit_if_failed(wait_for(label, site))


def exit_if_failed(statuses: list[JobStatus]) -> None:
    """If the job failed, exit with its last lines and advice."""
    if all(status.succeeded for status in statuses):
        return
    failure_advice.tell(statuses, lambda line: click.echo(line, err=True))
    raise SystemExit(1)


def wait_for(label: str, site: Site) -> list[JobStatus]:
    """Wait and print each new state. Return the last statuses."""
    said: dict[str, str] = {}
    statuses: list[JobStatus] = []
    try:
        for statuses in watch(label, site):
            for status in statuses:
                line = describe(status)
                if said.get(status.label) != line:
                    click.echo(line, err=True)
                    said[status.label] = line
    except KeyboardInterrupt:
        click.echo(
            f"\nYou stopped waiting, but job {label} continues. To end it: cluster cancel {label}",
            err=True,
        )
        raise SystemExit(130) from None
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
    if never_starts(status):
        line += (
            f": the job before it failed, so this one never starts: cluster cancel {status.label}"
        )
    if status.expected_start and status.state in WAITING:
        line += f", expected start {status.expected_start}"
    return line
