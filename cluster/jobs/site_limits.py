"""Report what a site would refuse or never start, before the job is submitted."""

import click

from autograder.wording import counted
from cluster.job_file import jobfile
from cluster.job_file.jobfile import JobFile, JobRequest
from cluster.sites import data_sets
from cluster.sites.site_files import Site


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
    sentences = []
    longest = site.settings.get("SITE_MAX_TIME")
    limit = jobfile.seconds(longest) if longest else None
    if limit is not None and asked.seconds is not None and asked.seconds > limit:
        sentences.append(
            f"--time={every_option['time']} is more than the {longest} usual here: the job may be"
            " refused or wait forever"
        )
    sentences += on_nodes(asked, site)
    at_a_time = site.settings.get("SITE_MAX_JOBS")
    if at_a_time and asked.array and len(asked.array) > int(at_a_time):
        first, last = asked.array[0], asked.array[int(at_a_time) - 1]
        part = str(first) if first == last else f"{first}-{last}"
        sentences.append(
            f"an array of {len(asked.array)} tasks counts as so many jobs, and at most {at_a_time}"
            f" of yours may be there at a time: submit it in parts, --array={part} first"
        )
    sentences += without_internet(site)
    return [f"{site.name}: {sentence}" for sentence in sentences]


def on_nodes(asked: JobRequest, site: Site) -> list[str]:
    """Report a request for more nodes than the site has, or more ranks per node than GPUs."""
    each = int(site.settings.get("SITE_GPUS_PER_NODE") or asked.ntasks)
    needed = -(-asked.ntasks // each)
    on_purpose = asked.nodes_given
    # PBS allocates as many nodes as the ranks need GPUs. Slurm fills a node's cores first.
    spread = not on_purpose and site.settings.get("SITE_SCHEDULER") == "pbs"
    nodes = needed if spread else asked.nodes
    sentences = []
    if asked.nodes > asked.ntasks and site.settings.get("SITE_SCHEDULER") == "slurm":
        nodes = asked.ntasks
        sentences.append(
            f"a job cannot use more nodes than it has ranks, {nodes}: Slurm gives it {nodes} of the"
            f" {asked.nodes} nodes"
        )
    most = site.settings.get("SITE_MAX_NODES")
    if most and nodes > int(most):
        sentences.append(
            f"{nodes} nodes are more than the {most} usual here: the job may be refused or wait for"
            " ever"
        )
    if asked.ntasks > nodes * each:
        ranks = counted(-(-asked.ntasks // nodes), "rank")
        may = "a node" if on_purpose else "may share a node, because --nodes is not given"
        sentences.append(
            f"{ranks} {may}, but a node of {site.name} has {counted(each, 'GPU')}: two ranks on one"
            f" GPU slow each other down, and NCCL refuses them; --nodes={needed} has room"
        )
    return sentences


def without_internet(site: Site) -> list[str]:
    """Report missing data sets on a site whose compute nodes cannot download them."""
    if site.settings.get("SITE_INTERNET") != "no":
        return []
    found = data_sets.found(seconds=10)
    if found is None or found.complete:
        return []
    return [
        f"compute nodes have no internet; of the data sets here, {found}: fetch them"
        f" {data_sets.FETCH}"
    ]
