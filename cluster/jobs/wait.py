"""`cluster wait`: stay until a job has ended, showing its state, reason and expected start."""

import time
from collections.abc import Iterator

import click

from cluster.jobs import what_failed
from cluster.schedulers import choice
from cluster.schedulers.job_status import WAITING, Status
from cluster.sites import site
from cluster.sites.site import Site

QUICK, SLOW = 0.25, 10.0  # seconds between questions: a laptop's queue is a file, Slurm's is shared

# What is asked again and again, to be typed by hand.
ASKS = {
    "slurm": "$ squeue --jobs={0}   # when it has gone from there: sacct -X --jobs={0}",
    "pbs": "$ qstat -x {0}",
    "laptop": "# on a Slurm site: squeue --jobs={0}, then sacct -X --jobs={0}",
}


@click.command("wait")
@click.option("--site", "site_name", metavar="SITE", help="Where the job is.")
@click.argument("label", metavar="JOB")
def wait_command(site_name: str | None, label: str) -> None:
    """Wait for the end of a job; exit 1 if it failed."""
    where = site.current(site_name)
    click.echo(ASKS.get(where.scheduler, "").format(label), err=True)
    exit_if_failed(wait_for(label, where))


def exit_if_failed(found: list[Status]) -> None:
    """With the last lines of what the job wrote, and what they mean."""
    if all(status.succeeded for status in found):
        return
    what_failed.tell(found, lambda line: click.echo(line, err=True))
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
    """The job's statuses, again and again until all of it is over or can never start."""
    scheduler = choice.of(where)
    pause = QUICK
    while True:
        found = scheduler.statuses(label)
        yield found
        if all(status.over or never_starts(status) for status in found):
            return
        time.sleep(pause)
        # Ask a shared scheduler less often the longer it takes.
        pause = QUICK if where.scheduler == "laptop" else min(pause * 1.5, SLOW)


def never_starts(status: Status) -> bool:
    return status.reason == "DependencyNeverSatisfied"


def describe(status: Status) -> str:
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
