"""Support Slurm: sbatch, squeue, scancel and sacct. Refusals come with advice."""

import click

from cluster.job_file.jobfile import JobFile
from cluster.job_file.sbatch_options import as_words
from cluster.schedulers import history, real_command
from cluster.schedulers.contract import JobStatus, Show
from cluster.sites.site_files import Site

SUBMIT_PROGRAM = "sbatch"
RUNS_HERE = False
ASK_EVERY = 10.0
HEALTH: tuple[str, str] | None = ("scontrol ping", r"\bUP\b")

# Slurm adds up GPUs that are requested in two ways: --gres=gpu:1 beside SBATCH_GPUS_PER_NODE=4
# requests both, or more than any node has. A request on the command line or in the job file
# therefore replaces the site's.
GPU_OPTIONS = {"gres", "gpus", "gpus-per-node", "gpus-per-task"}
GPU_VARIABLES = frozenset("SBATCH_" + name.upper().replace("-", "_") for name in GPU_OPTIONS)

# Messages of sbatch -> advice.
ADVICE = {
    r"Invalid account": "your accounts: sacctmgr show assoc user=$USER"
    " format=account,partition,qos; choose one: cluster use {site} --account NAME",
    r"invalid partition|Invalid partition": "the partitions here: sinfo -s;"
    " choose one: cluster use {site} --partition NAME",
    r"[Ii]nvalid qos": "your qualities of service: sacctmgr show assoc user=$USER"
    " format=account,qos; choose one: cluster use {site} --qos NAME",
    r"time limit is invalid": "ask for less --time: sinfo -o '%P %l' shows each partition's limit",
    r"[Nn]ode count|node configuration|More processors": "ask for fewer --nodes, ranks, cores or"
    " GPUs: sinfo -o '%P %D %c %G' shows what there is",
    r"generic resource": "ask for GPUs as this site does: sinfo -o '%P %G' shows their names",
    r"dependency": "Slurm does not know the job that this one depends on: squeue --me; sacct",
    r"QOS policy|AssocMax|QOSMax": "you have too many jobs, or they ask for more than you may "
    "use: squeue --me; sacctmgr show qos",
    r"[Rr]eservation": "scontrol show reservation lists them; to use none: cluster use {site}",
    r"contact slurm controller|Connection refused": "Slurm itself does not answer: wait, then try"
    " again",
    r"[Qq]uota": "your home or project folder is full: quota -s",
}


def submit(
    job: JobFile, options: dict[str, str], arguments: list[str], site: Site, show: Show
) -> str:
    extra = site.settings.get("SITE_SUBMIT_OPTIONS", "").split()
    words = ["sbatch", *extra, *as_words(options), str(job.path), *arguments]
    by_hand = GPU_OPTIONS & (options.keys() | job.options.keys())
    without = GPU_VARIABLES | site.unset if by_hand else site.unset
    show(real_command.shown(words, site, without))
    done = real_command.run(words, site.exports, without)
    if "test-only" in options and not done.returncode:  # then there is no job
        show(done.stderr.rstrip())
        raise SystemExit(0)
    return real_command.job_id(done, ADVICE, site, show)


def statuses(label: str) -> list[JobStatus]:
    """Return the statuses from the queue or, if the job is no longer there, from the accounting.

    The queue keeps a job for only a few minutes after it ends.
    """
    ask = ["squeue", "--noheader", "--array", "--states=all", "--format=%i|%T|%r|%S"]
    listed = real_command.run([*ask, f"--jobs={label}"])
    rows = [line.split("|") for line in listed.stdout.splitlines() if line.count("|") == 3]
    if not rows:
        recorded = real_command.run(
            ["sacct", "-X", "-n", "-P", f"--jobs={label}", "--format=jobid,state"]
        )
        rows = [[*line.split("|"), "", ""] for line in recorded.stdout.splitlines() if "|" in line]
    if not rows:
        said = real_command.complaint(listed, "sacct, squeue")
        raise click.ClickException(f"Slurm knows no job {label} of yours ({said})")
    return [
        JobStatus(
            label=number,
            state=state.split()[0],  # sacct prints: CANCELLED by 1000
            reason="" if reason == "None" else reason,
            expected_start="" if start in ("N/A", "") else start,
            output=history.file_of(number, "output"),
            error=history.file_of(number, "error"),
        )
        for number, state, reason, start in rows
    ]


def cancel(label: str) -> None:
    real_command.pass_through(["scancel", label])
