"""The batch systems that the course speaks to: SITE_SCHEDULER of a site file names one."""

import click

from cluster.schedulers import pbs, slurm
from cluster.schedulers.contract import Scheduler
from cluster.schedulers.laptop import laptop
from cluster.sites.site_files import Site

SCHEDULERS: dict[str, Scheduler] = {"slurm": slurm, "pbs": pbs, "laptop": laptop}


def scheduler_of(site: Site) -> Scheduler:
    if site.scheduler not in SCHEDULERS:
        raise click.ClickException(
            f"{site.file}: SITE_SCHEDULER={site.scheduler!r} is none of {', '.join(SCHEDULERS)}"
        )
    return SCHEDULERS[site.scheduler]
