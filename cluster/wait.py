"""`cluster wait`: stay until a job has ended, showing its state, reason and expected start."""

import time
from collections.abc import Iterator

import click

from cluster import schedulers, site
from cluster.job_status import WAITING, Status
from cluster.site import Site

QUICK, SLOW = 0.25, 10.0  # seconds between questions: a laptop's queue is a file, Slurm's is shared


@click.command("wait")
@click.option("--site", "site_name", metavar="SITE", help="Where the job is.")
@click.argument("label", metavar="JOB")
def wait_command(site_name: str | None, label: str) -> None:
    """Wait for the end of a job; exit 1 if it failed."""
    if not all(status.succeeded for status in wait_for(label, site.current(site_name))):
        raise SystemExit(1)


def wait_for(label: str, where: Site) -> list[Status]:
    """Wait; one line for each new state; the last statuses."""
    said: dict[str, str] = {}
    found: list[Status] = []
    try:
        for found in watch(label, where):
            for status in found:
                line = describe(status)
                if said.get(status.label) != line:
                    click.echo(line, err=True)
                    said[status.label] = line
    except KeyboardInterrupt:
        click.echo(f"\nYou stopped waiting; job {label} goes on: cluster cancel {label}", err=True)
        raise SystemExit(130) from None
    return found


def watch(label: str, where: Site) -> Iterator[list[Status]]:
    """The job's statuses, again and again until all of it is over."""
    scheduler = schedulers.of(where)
    pause = QUICK
    while True:
        found = scheduler.statuses(label)
        yield found
        if all(status.over for status in found):
            return
        time.sleep(pause)
        # Ask a shared scheduler less often the longer it takes.
        pause = QUICK if where.scheduler == "laptop" else min(pause * 1.5, SLOW)


def describe(status: Status) -> str:
    line = f"job {status.label}: {status.state}"
    if status.reason not in ("", "None"):
        line += f" ({status.reason})"
    if status.reason == "DependencyNeverSatisfied":
        line += (
            f": the job before it failed, so this one never starts: cluster cancel {status.label}"
        )
    if status.expected_start and status.state in WAITING:
        line += f", expected start {status.expected_start}"
    return line
