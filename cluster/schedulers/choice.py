"""Which module speaks to which batch system.

Each has submit, statuses, queue, cancel and accounting.
"""

import importlib
from types import ModuleType

import click

from cluster.sites.site import Site

MODULES = {
    "laptop": "cluster.schedulers.laptop.queue",
    "slurm": "cluster.schedulers.slurm",
    "pbs": "cluster.schedulers.pbs",
}


def of(site: Site) -> ModuleType:
    if site.scheduler not in MODULES:
        raise click.ClickException(
            f"{site.file}: SITE_SCHEDULER={site.scheduler!r} is none of {', '.join(MODULES)}"
        )
    return importlib.import_module(MODULES[site.scheduler])
