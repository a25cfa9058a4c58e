"""Report what a site would refuse or never start, before the job is submitted."""

from pathlib import Path

import click

from autograder.wording import counted
from cluster.job_file import jobfile
from cluster.job_file.jobfile import JobFile, JobRequest
from cluster.job_file.programs import imports_any, programs_of
from cluster.jobs import gpu_share
from cluster.sites import data_sets
from cluster.sites.site_files import Site

# Of a GPU, for PyTorch built with CUDA 13; the locked cuDNN 9.28 needs it too.
LEAST_CAPABILITY = 7.5
MAY_WAIT = "the job may be refused or wait forever"


def remarks(job: JobFile, options: dict[str, str], site: Site) -> list[str]:
    """Return remarks on requests that the site may reject or keep waiting forever.

    Raise an error for anything that the site is certain to refuse.
    """
    asked = jobfile.request(job, options)
    every_option = {**job.options, **options}
    account = every_option.get("account") or site.variable("SBATCH_ACCOUNT")
    if site.settings.get("SITE_ACCOUNT") == "required" and not account:
        raise click.ClickException(
            f"{site.name} charges every job to an account:"
            f" cluster use {site.name} --account YOUR_PROJECT"
        )
    refuse_gpus(job, asked, every_option, site)
    sentences = []
    longest = site.settings.get("SITE_MAX_TIME")
    limit = jobfile.seconds(longest) if longest else None
    if limit is not None and asked.seconds is not None and asked.seconds > limit:
        sentences.append(
            f"--time={every_option['time']} is more than the {longest} usual here: {MAY_WAIT}"
        )
    sentences += on_nodes(job, asked, site)
    sentences += without_internet(site)
    return [f"{site.name}: {sentence}" for sentence in sentences]


def refuse_gpus(job: JobFile, asked: JobRequest, options: dict[str, str], site: Site) -> None:
    """Raise an error if the site has no such GPUs, or the program could not use them."""
    most, by_hand = site.number("SITE_GPUS_PER_NODE"), gpu_share.asked_by_hand(options, asked)
    of_a_node = asked.nodes_given or {"gres", "gpus-per-node"} & options.keys()
    if most and by_hand > most and of_a_node:
        raise click.ClickException(
            f"{by_hand} GPUs of a node are requested, but a node of {site.name} has {most}: request"
            " fewer, or more --nodes. If it has more, correct SITE_GPUS_PER_NODE in"
            f" {site.settings_file}"
        )
    programs = programs_of(job.path)
    capability = float(site.settings.get("SITE_GPU_CAPABILITY") or LEAST_CAPABILITY)
    if capability < LEAST_CAPABILITY and gpu_share.can_train(programs):
        raise click.ClickException(
            f"this partition of {site.name} has GPUs of compute capability {capability}, and the"
            f" course's PyTorch and TensorFlow need {LEAST_CAPABILITY}: choose another one with"
            f" --partition, or for all jobs: cluster use {site.name} --partition NAME"
        )
    reason = without_tensorflow(site) if most else ""
    for program in programs if reason else ():
        if imports_any(program, {"tensorflow", "keras", "tf_keras"}, if_unreadable=False):
            raise click.ClickException(
                f"{program.name} imports TensorFlow, but {reason}: choose a second environment with"
                f" `cluster use {site.name} --tensorflow-environment FOLDER`"
            )


def without_tensorflow(site: Site) -> str:
    """Return why the jobs have no TensorFlow for GPUs, which needs CUDA 12; "" if they may."""
    if other := site.variable("COURSE_ENVIRONMENT_TENSORFLOW"):
        return "" if Path(other, "bin", "python").is_file() else f"{other} contains no bin/python"
    environment = Path(site.variable("COURSE_ENVIRONMENT") or "/nowhere")
    found = {path.name for path in environment.glob("lib/python3*/site-packages/nvidia/*")}
    if site.variable("COURSE_IMAGE") or "cu13" not in found or "cuda_runtime" in found:
        return ""
    return "the environment of your jobs has only the CUDA libraries of PyTorch"


def on_nodes(job: JobFile, asked: JobRequest, site: Site) -> list[str]:
    """Report a request for more nodes than the site has, or more ranks per node than GPUs."""
    each = site.number("SITE_GPUS_PER_NODE") or asked.ntasks
    needed = -(-asked.ntasks // each)
    # PBS allocates as many nodes as the ranks need GPUs. Slurm fills a node's cores first.
    nodes = needed if site.scheduler == "pbs" and not asked.nodes_given else asked.nodes
    sentences = []
    most, cores = site.number("SITE_MAX_NODES"), site.number("SITE_CORES_PER_NODE")
    wanted = asked.cpus_per_task * (-(-asked.ntasks // nodes) if asked.nodes_given else 1)
    if cores and wanted > cores:
        sentences.append(f"{wanted} cores of a node are requested, but a node has {cores}")
    if most and nodes > most:
        sentences.append(f"{nodes} nodes are more than the {most} usual here: {MAY_WAIT}")
    programs = programs_of(job.path)
    is_here, by_hand = site.scheduler == "laptop", gpu_share.asked_by_hand(job.options, asked)
    trains = gpu_share.can_train(programs) or not programs
    if asked.ntasks > nodes * each and trains and (by_hand or not is_here):
        ranks = counted(-(-asked.ntasks // nodes), "rank")
        may = "a node" if asked.nodes_given else "may share a node, because --nodes is not given"
        mend = f"--nodes={needed} has room"
        if is_here:
            may, mend = "share this node", "use fewer ranks, or the CPU with COURSE_DEVICE=cpu"
        sentences.append(
            f"{ranks} {may}, but a node of {site.name} has {counted(each, 'GPU')}: two ranks on one"
            f" GPU slow each other down, and NCCL refuses them; {mend}"
        )
    return sentences


def without_internet(site: Site) -> list[str]:
    """Report missing data sets on a site whose compute nodes cannot download them."""
    if site.settings.get("SITE_INTERNET") != "no":
        return []
    files = data_sets.incomplete(seconds=10)
    said = f"compute nodes have no internet, and here are {files}: fetch them {data_sets.FETCH}"
    return [said] if files else []
