"""Work out how many GPUs a job can use, from its ranks and its program.

On sites that share nodes, the job requests only these GPUs, with their share of cores and memory.
"""

import math
import re

from cluster.job_file.jobfile import JobFile, JobRequest
from cluster.job_file.programs import imports_any, programs_of
from cluster.sites import site_files
from cluster.sites.site_files import Site

FRAMEWORKS = {"horovod", "keras", "lightning", "tensorflow", "tf_keras", "torch"}


def fitted(
    job: JobFile, asked: JobRequest, options: dict[str, str], site: Site
) -> tuple[Site, dict[str, str], list[str]]:
    """Return the site with settings adapted to this job, more options for sbatch, and remarks."""
    most = int(site.settings.get("SITE_GPUS_PER_NODE") or 0)
    if site.scheduler != "slurm" or not most:
        return site, {}, []
    by_hand = asked_by_hand(job.options | options, asked)
    programs = programs_of(job.path)
    on_gpus = bool(by_hand) or not programs or any(imports_any(p, FRAMEWORKS) for p in programs)
    ranks = -(-asked.ntasks // asked.nodes)
    of_ranks = (ranks if on_gpus else 1) if programs else most  # else programs unknown
    gpus = min(most, by_hand or of_ranks)
    here = site_files.load(site.file, NEEDED_GPUS_PER_NODE=str(gpus), NEEDED_NODES=str(asked.nodes))
    each = int(site.settings.get("SITE_CORES_PER_GPU") or 0)
    cores = each * max(1, gpus // ranks)
    enough = asked.cpus_per_task >= cores or "cpus-per-task" in options
    if enough or not on_gpus or ranks > most:
        return here, {}, []
    remark = (
        f"{site.name}: memory follows cores, and {each} belong to a GPU: each rank gets"
        f" {cores} cores, not {asked.cpus_per_task}"
    )
    return here, {"cpus-per-task": str(cores)}, [remark]


def asked_by_hand(options: dict[str, str], asked: JobRequest) -> int:
    """Return how many GPUs per node sbatch's options request; 0 if none."""
    ranks = -(-asked.ntasks // asked.nodes)
    times = {"gres": 1, "gpus-per-node": 1, "gpus-per-task": ranks, "gpus": 1 / asked.nodes}
    for name, each in times.items():
        # gpu:4, gpu:a100:4, a100:4 or 4; no number means one
        kinds = [kind for kind in options.get(name, "").split(",") if kind]
        if name == "gres":
            kinds = [kind for kind in kinds if kind.startswith("gpu")]
        numbers = [re.search(r"(?:^|:)(\d+)$", kind) for kind in kinds]
        if kinds:
            return math.ceil(each * sum(int(found[1]) if found else 1 for found in numbers))
    return 0
