"""List the supported batch systems. SITE_SCHEDULER in a site file selects one."""

from cluster.schedulers import pbs, slurm
from cluster.schedulers.contract import Scheduler, WithoutSlurm
from cluster.schedulers.laptop import laptop
from cluster.sites.site_files import Site

WITHOUT_SLURM: dict[str, WithoutSlurm] = {"pbs": pbs, "laptop": laptop}
SCHEDULERS: dict[str, Scheduler] = {"slurm": slurm, **WITHOUT_SLURM}


def scheduler_of(site: Site) -> Scheduler:
    return SCHEDULERS[site.scheduler]
