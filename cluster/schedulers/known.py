"""List the supported batch systems. SITE_SCHEDULER in a site file selects one."""

import click

from cluster.schedulers import pbs, slurm
from cluster.schedulers.contract import Scheduler, WithoutSlurm
from cluster.schedulers.laptop import laptop
from cluster.sites.site_files import Site

WITHOUT_SLURM: dict[str, WithoutSlurm] = {"pbs": pbs, "laptop": laptop}
SCHEDULERS: dict[str, Scheduler] = {"slurm": slurm, **WITHOUT_SLURM}


def scheduler_of(site: Site) -> Scheduler:
    if site.scheduler not in SCHEDULERS:
        raise click.ClickException(
            f"{site.file}: SITE_SCHEDULER={site.scheduler!r} is none of {', '.join(SCHEDULERS)}"
        )
    return SCHEDULERS[site.scheduler]
