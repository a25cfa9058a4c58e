"""`cluster queue`, `cancel` and `accounting`, which are the same on every site."""

import contextlib
from pathlib import Path

import click

from autograder.json_lists import print_json, with_json
from autograder.slurm_notation import SACCT_COLUMNS
from cluster.schedulers import history
from cluster.schedulers.accounting_table import QUEUE_COLUMNS
from cluster.schedulers.known import scheduler_of
from cluster.sites import site_files


def with_site(command):
    return click.option(
        "--site", "site_name", metavar="SITE", help="Jobs of this site, not the one in use."
    )(command)


@click.command("queue")
@with_site
@with_json
def queue_command(site_name: str | None, as_json: bool) -> None:
    """List your waiting and running jobs (squeue)."""
    scheduler = scheduler_of(site_files.current(site_name))
    if as_json:
        print_json([dict(zip(QUEUE_COLUMNS, row, strict=False)) for row in scheduler.unfinished()])
    else:
        scheduler.queue()


@click.command("cancel")
@with_site
@click.argument("labels", nargs=-1, required=True, metavar="JOB…")
def cancel_command(site_name: str | None, labels: tuple[str, ...]) -> None:
    """Cancel jobs, whether they are waiting or running (scancel)."""
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
@with_json
@click.argument("labels", nargs=-1, metavar="[JOB…]")
def accounting_command(
    site_name: str | None, labels: tuple[str, ...], parsable: bool, as_json: bool
) -> None:
    """Show the scheduler's records of jobs as a table (sacct -X)."""
    scheduler = scheduler_of(site_files.current(site_name))
    if as_json:
        rows = scheduler.records(list(labels))
        print_json([dict(zip(SACCT_COLUMNS, row, strict=False)) for row in rows])
    else:
        scheduler.accounting(list(labels), parsable)
