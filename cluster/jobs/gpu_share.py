"""Work out how many GPUs a job can use, and how many cores belong to each of its ranks.

A rank that trains on a GPU gets the GPU's share of its node's cores, and with them of the memory,
even if the job file requests fewer. On sites that share nodes, the job requests only the GPUs that
it can use.
"""

import math
import re
from pathlib import Path

from cluster.job_file.jobfile import JobFile, JobRequest
from cluster.job_file.programs import imports_any, programs_of
from cluster.schedulers.known import scheduler_of
from cluster.schedulers.laptop.cores import whole_cores
from cluster.sites import site_files
from cluster.sites.site_files import Site

FRAMEWORKS = {"horovod", "keras", "lightning", "tensorflow", "tf_keras", "torch"}
USUAL_CORES = 8  # per GPU, where a site file does not say what its nodes have


def fitted(
    job: JobFile, asked: JobRequest, options: dict[str, str], site: Site
) -> tuple[Site, dict[str, str], list[str]]:
    """Return the site with settings adapted to this job, more options for sbatch, and remarks."""
    by_hand, needed = asked_by_hand(job.options | options, asked), dict[str, str]()
    if "partition" in options:  # the site's settings may depend on it, and override a job file's
        needed = {"SBATCH_PARTITION": options["partition"]}
        site = site_files.load(site.file, **needed)
    most = site.number("SITE_GPUS_PER_NODE") or by_hand
    if scheduler_of(site).RUNS_HERE:  # a job may train on the CPU, unless it requests GPUs
        most = site.number("SITE_GPUS_PER_NODE") if by_hand else 0
    if not most:
        return site, {}, []
    programs = programs_of(job.path)
    trains = can_train(programs)
    ranks = -(-asked.ntasks // asked.nodes)
    gpus = min(most, by_hand or (ranks if trains or not programs else 1))
    needed |= {"NEEDED_GPUS_PER_NODE": str(gpus), "NEEDED_NODES": str(asked.nodes)}
    here = site_files.load(site.file, **needed)
    cores = max(1, cores_per_gpu(site) * gpus // ranks)
    can_use = trains or (by_hand and site.number("SITE_CORES_PER_GPU"))
    if asked.cpus_per_task >= cores or "cpus-per-task" in options or not can_use:
        return here, {}, []
    remark = (
        f"{site.name}: each rank gets {cores} cores and their memory, its GPUs' share of a node,"
        f" instead of {asked.cpus_per_task}"
    )
    return here, {"cpus-per-task": str(cores)}, [remark]


def can_train(programs: list[Path]) -> bool:
    """Return whether one of these programs imports a framework that can use a GPU."""
    return any(imports_any(program, FRAMEWORKS) for program in programs)


def cores_per_gpu(site: Site) -> int:
    """Return the site's cores per GPU, or its cores per node divided by its GPUs, or 8."""
    gpus, of_node = site.number("SITE_GPUS_PER_NODE"), site.number("SITE_CORES_PER_NODE")
    if scheduler_of(site).RUNS_HERE:
        gpus, of_node = max(1, gpus), len(whole_cores())
    shared = max(1, of_node // gpus) if of_node and gpus else USUAL_CORES
    return site.number("SITE_CORES_PER_GPU") or shared


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
