"""`cluster queue`, `cancel` and `accounting`, which are the same on every site."""

import contextlib
from pathlib import Path

import click

from cluster.schedulers import history
from cluster.schedulers.known import scheduler_of
from cluster.sites import site_files


def with_site(command):
    return click.option(
        "--site", "site_name", metavar="SITE", help="Jobs of this site, not the one in use."
    )(command)


@click.command("queue")
@with_site
def queue_command(site_name: str | None) -> None:
    """List your waiting and running jobs (squeue)."""
    scheduler_of(site_files.current(site_name)).queue()


@click.command("cancel")
@with_site
@click.argument("labels", nargs=-1, required=True, metavar="JOB…")
def cancel_command(site_name: str | None, labels: tuple[str, ...]) -> None:
    """End jobs, whether they wait or run (scancel)."""
    scheduler = scheduler_of(site_files.current(site_name))
    for label in labels:
        scheduler.cancel(label)


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


@click.command("accounting")
@with_site
@click.option("--parsable", is_flag=True, help="Print all columns, separated by | (sacct -P).")
@click.argument("labels", nargs=-1, metavar="[JOB…]")
def accounting_command(site_name: str | None, labels: tuple[str, ...], parsable: bool) -> None:
    """Show the scheduler's records of jobs as a table (sacct -X)."""
    scheduler_of(site_files.current(site_name)).accounting(list(labels), parsable)
