"""What a site will refuse or keep waiting for ever, said before the job is submitted."""

import click

from cluster.doctor import probes, runner
from cluster.doctor.findings import OK
from cluster.doctor.place import Place
from cluster.job_file import jobfile
from cluster.job_file.jobfile import JobFile
from cluster.sites.site import Site


def remarks(job: JobFile, options: dict[str, str], where: Site) -> list[str]:
    """Sentences about what may not fit; an error where the site certainly refuses."""
    asked = jobfile.request(job, options)
    given = {**job.options, **options}
    account = given.get("account") or where.variable("SBATCH_ACCOUNT")
    if where.settings.get("SITE_ACCOUNT") == "required" and not account:
        raise click.ClickException(
            f"{where.name} charges every job to an account:"
            f" cluster use {where.name} --account YOUR_PROJECT"
        )
    found = []
    longest = where.settings.get("SITE_MAX_TIME")
    limit = jobfile.seconds(longest) if longest else None
    if limit is not None and asked.seconds is not None and asked.seconds > limit:
        found.append(
            f"--time={given['time']} is more than the {longest} usual here: it may never run"
        )
    most = where.settings.get("SITE_MAX_NODES")
    if most and asked.nodes > int(most):
        found.append(f"{asked.nodes} nodes are more than the {most} usual here: it may never run")
    gpus = where.settings.get("SITE_GPUS_PER_NODE")
    if gpus and asked.ntasks > asked.nodes * int(gpus) and "nodes" in given:
        per_node = -(-asked.ntasks // asked.nodes)
        found.append(f"{per_node} ranks a node, but a node of {where.name} has {gpus} GPUs")
    found += without_internet(where)
    return [f"{where.name}: {sentence}" for sentence in found]


def without_internet(where: Site) -> list[str]:
    """Data that compute nodes cannot fetch for themselves has to be here already."""
    if where.settings.get("SITE_INTERNET") != "no":
        return []
    probe = probes.chosen(10, ("data",))
    return [
        f"compute nodes have no internet, and of the data here {finding.found}: {finding.advice}"
        for finding in runner.run(probe[0], Place())
        if finding.state != OK
    ]
