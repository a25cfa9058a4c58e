"""`cluster queue`, `cancel` and `accounting`: the same words on every site."""

import click

from cluster.schedulers import choice
from cluster.sites import site


def with_site(command):
    return click.option("--site", "site_name", metavar="SITE", help="Which site's jobs.")(command)


@click.command("queue")
@with_site
def queue_command(site_name: str | None) -> None:
    """Your jobs that wait or run (squeue)."""
    choice.of(site.current(site_name)).queue()


@click.command("cancel")
@with_site
@click.argument("labels", nargs=-1, required=True, metavar="JOB…")
def cancel_command(site_name: str | None, labels: tuple[str, ...]) -> None:
    """End jobs, waiting or running (scancel)."""
    scheduler = choice.of(site.current(site_name))
    for label in labels:
        scheduler.cancel(label)


@click.command("accounting")
@with_site
@click.argument("labels", nargs=-1, metavar="[JOB…]")
def accounting_command(site_name: str | None, labels: tuple[str, ...]) -> None:
    """What the scheduler has on record about jobs (sacct -X -P)."""
    choice.of(site.current(site_name)).accounting(list(labels))
